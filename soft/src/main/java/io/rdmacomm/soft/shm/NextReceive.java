package io.rdmacomm.soft.shm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.mapped.ReceiveTaker;
import io.rdmacomm.verbs.spi.ReceiveRequestLayout;
import java.lang.foreign.MemorySegment;

/// A copy of the peer's next receive, with its first element. One thread at a time.
///
/// It is read ahead, after the previous message was delivered. The peer has written its cache line, so reading it
/// later would add a cache miss to the latency of the next message. A receive does not change until it ends, and
/// positions are not reused.
final class NextReceive {
    private static final long NONE = -1;

    private long position = NONE;
    private long workId;
    private int elements;
    private long address;
    private long length;
    private int key;

    /// Reads the receive at `wanted`, which is posted, unless this is its copy.
    void read(MemorySegment memory, ReceiveTaker ring, long wanted) {
        if (position == wanted) {
            return;
        }
        long entry = ring.entry(wanted);
        workId = ring.workId(entry);
        elements = ring.elementCount(entry);
        long element = ring.elements(entry);
        address = memory.get(JAVA_LONG, element + ReceiveRequestLayout.ELEMENT_ADDRESS);
        length = Integer.toUnsignedLong(memory.get(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_LENGTH));
        key = memory.get(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_KEY);
        position = wanted;
    }

    /// Discards the copy, because the ring may be a different one.
    void forget() {
        position = NONE;
    }

    long workId() {
        return workId;
    }

    int elements() {
        return elements;
    }

    long address() {
        return address;
    }

    long length() {
        return length;
    }

    int key() {
        return key;
    }
}
