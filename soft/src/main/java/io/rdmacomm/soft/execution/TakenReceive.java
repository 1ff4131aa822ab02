package io.rdmacomm.soft.execution;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.mapped.ReceiveTaker;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.memory.LocalRegion;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.ReceiveRequestLayout;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;

/// The receive of the incoming message: taken from the ring with its first segment, completed with its last.
final class TakenReceive {
    private static final int SUCCESS = 0;
    private static final int LOCAL_WRITE = AccessFlag.LOCAL_WRITE.bit();

    private final LocalMemory memory;
    private final ReceiveTaker ring;
    private final IntConsumer onLimit;
    private final PayloadPlacement placement;
    private boolean taken;
    private boolean bad;
    private long workId;

    /// None is taken.
    ///
    /// @param ring of this context
    /// @param onLimit called with the number of a shared receive queue that fell below its limit
    TakenReceive(LocalMemory memory, ReceiveTaker ring, IntConsumer onLimit) {
        this.memory = memory;
        this.ring = ring;
        this.onLimit = onLimit;
        this.placement = new PayloadPlacement(memory, ElementList.MAX_ELEMENTS);
    }

    /// The memory for its message.
    PayloadPlacement placement() {
        return placement;
    }

    boolean isTaken() {
        return taken;
    }

    long workId() {
        return workId;
    }

    /// The receive was completed or flushed.
    void ended() {
        taken = false;
    }

    /// Takes the oldest receive.
    ///
    /// @return false if there is none
    boolean take() {
        MemorySegment control = memory.control();
        while (true) {
            long position = ring.head();
            if (position >= ring.tail()) {
                return false;
            }
            long entry = ring.entry(position);
            workId = ring.workId(entry);
            resolve(control, entry);
            if (ring.take(position)) {
                taken = true;
                int shared = ring.sharedNumber();
                if (shared != 0 && ring.crossedLimit()) {
                    onLimit.accept(shared);
                }
                return true;
            }
        }
    }

    /// Finds the memory of the elements, up to the first invalid one. That one matters only to a message that
    /// reaches it.
    private void resolve(MemorySegment control, long entry) {
        placement.clear();
        bad = false;
        int count = ring.elementCount(entry);
        int domain = ring.domain();
        long element = ring.elements(entry);
        for (int i = 0; i < count && !bad; i++, element += ReceiveRequestLayout.ELEMENT_BYTES) {
            long length = Integer.toUnsignedLong(control.get(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_LENGTH));
            if (length == 0) {
                continue;
            }
            long address = control.get(JAVA_LONG, element + ReceiveRequestLayout.ELEMENT_ADDRESS);
            int key = control.get(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_KEY);
            LocalRegion region = memory.usable(key, domain, LOCAL_WRITE, address, length);
            bad = region == null;
            if (region != null) {
                placement.pieces().add(region, region.offsetOf(address), length);
            }
        }
    }

    /// Whether a message up to `end` bytes fits.
    ///
    /// @return 0, or what the receive fails with
    int check(long end) {
        if (end <= placement.pieces().total) {
            return SUCCESS;
        }
        return bad ? WorkStatus.LOCAL_PROTECTION_ERROR.code() : WorkStatus.LOCAL_LENGTH_ERROR.code();
    }
}
