package io.rdmacomm.soft.shm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.mapped.ReceiveTaker;
import io.rdmacomm.verbs.spi.ReceiveRequestLayout;
import java.lang.foreign.MemorySegment;

/// A copy of the receive that the next message takes, with its first element. One thread at a time.
///
/// It is read when the message before it has been delivered: the peer has written its cache line, and waiting for that
/// would otherwise be a part of the latency of the next message. A receive does not change between its posting and its
/// end, and no other gets its position.
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

    /// Forgets the copy: the ring may be another one.
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
