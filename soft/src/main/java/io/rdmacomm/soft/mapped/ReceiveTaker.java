package io.rdmacomm.soft.mapped;

import static io.rdmacomm.soft.mapped.ReceiveRing.DOMAIN;
import static io.rdmacomm.soft.mapped.ReceiveRing.ELEMENTS;
import static io.rdmacomm.soft.mapped.ReceiveRing.ENTRIES;
import static io.rdmacomm.soft.mapped.ReceiveRing.ENTRY_COUNT;
import static io.rdmacomm.soft.mapped.ReceiveRing.ENTRY_ELEMENTS;
import static io.rdmacomm.soft.mapped.ReceiveRing.ENTRY_TAKER;
import static io.rdmacomm.soft.mapped.ReceiveRing.ENTRY_WORK_ID;
import static io.rdmacomm.soft.mapped.ReceiveRing.HEAD;
import static io.rdmacomm.soft.mapped.ReceiveRing.LIMIT;
import static io.rdmacomm.soft.mapped.ReceiveRing.MASK;
import static io.rdmacomm.soft.mapped.ReceiveRing.SHARED_NUMBER;
import static io.rdmacomm.soft.mapped.ReceiveRing.STRIDE;
import static io.rdmacomm.soft.mapped.ReceiveRing.TAIL;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The takers' end of a [ReceiveRing]. Values that the owner never changes are read and checked once, so that an
/// entry never lies outside of the ring, whatever the owner writes later. One thread at a time.
public final class ReceiveTaker {
    private final MemorySegment memory;
    private final long ring;
    private final int elements;
    private final int sharedNumber;
    private final int domain;
    private final long taker;
    private ReceiveEntries entries;

    ReceiveTaker(
            MemorySegment memory, ReceiveEntries smallest, int elements, int sharedNumber, int domain, long taker) {
        this.memory = memory;
        this.ring = smallest.offset();
        this.entries = smallest;
        this.elements = elements;
        this.sharedNumber = sharedNumber;
        this.domain = domain;
        this.taker = taker;
    }

    /// Takes from the ring at `ring` of the control file `memory`.
    ///
    /// @param lid of this context
    /// @param number of the queue pair that takes
    /// @return null if no ring can be there
    public static @Nullable ReceiveTaker find(MemorySegment memory, long ring, int lid, int number) {
        if (!ControlLayout.isInHeap(ring, ENTRIES)) {
            return null;
        }
        long mask = memory.get(JAVA_LONG, ring + MASK);
        int stride = memory.get(JAVA_INT, ring + STRIDE);
        int elements = memory.get(JAVA_INT, ring + ELEMENTS);
        boolean possible = elements > 0
                && elements <= ReceiveRing.MOST_ELEMENTS
                && stride == ReceiveRing.stride(elements)
                && ReceiveEntries.isPossible(ring, mask, stride);
        return possible
                ? new ReceiveTaker(
                        memory,
                        new ReceiveEntries(memory, ring, stride, mask, 0, null),
                        elements,
                        memory.get(JAVA_INT, ring + SHARED_NUMBER),
                        memory.get(JAVA_INT, ring + DOMAIN),
                        ReceiveRing.taker(lid, number))
                : null;
    }

    /// Writes messages to the lines of the ring; null if it has none that are open.
    public @Nullable LineWriter lines() {
        return LineWriter.find(memory, ring, entries.mask());
    }

    /// The position of the oldest receive.
    public long head() {
        return SharedWords.acquire(memory, ring + HEAD);
    }

    /// The number of receives that were ever posted: the position after the newest.
    public long tail() {
        return SharedWords.acquire(memory, ring + TAIL);
    }

    /// Where the entry at `position`, which was posted, is. Only shared queues are resized.
    public long entry(long position) {
        if (sharedNumber != 0) {
            entries = entries.newest(position);
        }
        return entries.at(position);
    }

    /// The work id of an entry.
    public long workId(long entry) {
        return memory.get(JAVA_LONG, entry + ENTRY_WORK_ID);
    }

    /// The number of elements of an entry, never more than the ring allows.
    public int elementCount(long entry) {
        return Math.max(0, Math.min(memory.get(JAVA_INT, entry + ENTRY_COUNT), elements));
    }

    /// Where the elements of an entry are.
    public long elements(long entry) {
        return entry + ENTRY_ELEMENTS;
    }

    /// Takes the receive at `position`.
    ///
    /// @return false if another taker had it
    public boolean take(long position) {
        if (sharedNumber == 0) {
            return leave(position);
        }
        long at = entry(position) + ENTRY_TAKER;
        boolean taken =
                SharedWords.compareAndSet(memory, at, ReceiveRing.word(position, 0), ReceiveRing.word(position, taker));
        // Even if another taker has the entry: it may have died before it moved the head.
        leave(position);
        return taken;
    }

    /// Moves the head on from `position`.
    ///
    /// @return false if another taker has moved it
    private boolean leave(long position) {
        return SharedWords.compareAndSet(memory, ring + HEAD, position, position + 1);
    }

    /// The number of the shared receive queue that the ring belongs to; 0 for a queue pair's own.
    public int sharedNumber() {
        return sharedNumber;
    }

    /// The number of the protection domain that the elements must belong to.
    public int domain() {
        return domain;
    }

    /// Disarms the limit if fewer receives than it are left.
    ///
    /// @return whether the limit's event is due now
    public boolean crossedLimit() {
        int limit = SharedWords.acquireInt(memory, ring + LIMIT);
        if (limit == 0) {
            return false;
        }
        return tail() - head() < limit && SharedWords.compareAndSetInt(memory, ring + LIMIT, limit, 0);
    }
}
