package io.rdmacomm.soft;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.shm.ReceiveRing;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.ReceiveRequestLayout;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.MemorySegment;

/// The receive that the message which is coming in was given: taken from the ring with its first segment,
/// completed with its last.
final class TakenReceive {
    private static final int LOCAL_WRITE = AccessFlag.LOCAL_WRITE.bit();

    private final SoftContext context;
    private final long ring;
    private final Placement placement;
    private boolean taken;
    private boolean bad;
    private long workId;

    /// None is taken.
    ///
    /// @param ring where the receive ring is in this context's control file
    TakenReceive(SoftContext context, long ring) {
        this.context = context;
        this.ring = ring;
        this.placement = new Placement(context, SoftLimits.MAX_ELEMENTS);
    }

    /// Where its message goes.
    Placement placement() {
        return placement;
    }

    boolean isTaken() {
        return taken;
    }

    long workId() {
        return workId;
    }

    /// It was completed, or flushed.
    void ended() {
        taken = false;
    }

    /// Takes the oldest receive.
    ///
    /// @return false if there is none
    boolean take() {
        MemorySegment memory = context.memory();
        while (true) {
            long position = ReceiveRing.head(memory, ring);
            if (position >= ReceiveRing.tail(memory, ring)) {
                return false;
            }
            long entry = ReceiveRing.entry(memory, ring, position);
            workId = ReceiveRing.workId(memory, entry);
            resolve(memory, entry);
            if (ReceiveRing.take(memory, ring, position)) {
                taken = true;
                int shared = ReceiveRing.sharedNumber(memory, ring);
                if (shared != 0 && ReceiveRing.crossedLimit(memory, ring)) {
                    context.limitReached(shared);
                }
                return true;
            }
        }
    }

    /// Finds the memory behind the elements, up to the first bad one: a message that does not reach it is none of
    /// its business.
    private void resolve(MemorySegment memory, long entry) {
        placement.clear();
        bad = false;
        int count = ReceiveRing.elementCount(memory, ring, entry);
        int domain = ReceiveRing.domain(memory, ring);
        long element = ReceiveRing.elements(entry);
        for (int i = 0; i < count && !bad; i++, element += ReceiveRequestLayout.ELEMENT_BYTES) {
            long length = Integer.toUnsignedLong(memory.get(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_LENGTH));
            if (length == 0) {
                continue;
            }
            long address = memory.get(JAVA_LONG, element + ReceiveRequestLayout.ELEMENT_ADDRESS);
            int key = memory.get(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_KEY);
            SoftMemoryRegion region = context.regions().find(key);
            bad = region == null
                    || region.domainNumber() != domain
                    || !region.allows(LOCAL_WRITE)
                    || !region.contains(address, length);
            if (region != null && !bad) {
                placement.pieces.add(region.segment(), key, region.offsetOf(address), length);
            }
        }
    }

    /// Whether a message up to `end` bytes fits.
    ///
    /// @return [RequestExecutor#DONE], or what the receive fails with
    int check(long end) {
        if (end <= placement.pieces.total) {
            return RequestExecutor.DONE;
        }
        return bad ? WorkStatus.LOCAL_PROTECTION_ERROR.code() : WorkStatus.LOCAL_LENGTH_ERROR.code();
    }
}
