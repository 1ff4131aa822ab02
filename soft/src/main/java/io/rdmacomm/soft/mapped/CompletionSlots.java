package io.rdmacomm.soft.mapped;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/// The layout of a completion queue, and the words of its slots: see [CompletionRing].
///
/// A slot stores only the lowest 44 bits of a position. So positions are compared by their distance, which works
/// while it is less than 2^43. Positions never run out.
final class CompletionSlots {
    /// Most slots of a ring.
    static final int MOST = 1 << 20;

    static final int QUEUE_BYTES = 128;
    static final int QUEUE_RING = 0;
    static final int QUEUE_NUMBER = 8;
    static final int QUEUE_CHANNEL = 12;
    static final int QUEUE_BROKEN = 16;
    static final int QUEUE_ARMED = 64;

    /// The kinds of events in the word of an armed queue, which also [names a bell][Bell#name].
    static final long ANY = 1;

    static final long SOLICITED = 2;
    static final long EVENTS = 3;

    static final int RING_MASK = 0;
    static final int RING_TAIL = 64;
    static final int RING_SLOTS = 128;
    static final int SLOT_BYTES = 64;
    static final int SLOT_BODY = 8;

    static final int FREE = 0;
    static final int CLAIMED = 1;
    static final int FULL = 2;
    static final int SEALED = 3;
    static final int VOID = 4;

    /// No thread loses this many races at the tail of a ring.
    private static final int ROUNDS = 1 << 16;

    private static final int KIND_MASK = 15;
    private static final int LID_SHIFT = 4;
    private static final int LID_MASK = 0xffff;
    private static final int POSITION_SHIFT = 20;

    private CompletionSlots() {}

    static long ringBytes(long size) {
        return RING_SLOTS + size * SLOT_BYTES;
    }

    /// The mask of the ring at `ring`, or -1 if no ring can be there.
    static long mask(MemorySegment memory, long ring) {
        if (!ControlLayout.isInHeap(ring, RING_SLOTS)) {
            return -1;
        }
        long mask = memory.get(JAVA_LONG, ring + RING_MASK);
        boolean possible = mask >= 0
                && mask < MOST
                && (mask & (mask + 1)) == 0
                && ControlLayout.isInHeap(ring, ringBytes(mask + 1));
        return possible ? mask : -1;
    }

    static long slot(long ring, long mask, long position) {
        return ring + RING_SLOTS + (position & mask) * SLOT_BYTES;
    }

    static long word(long position, int lid, int kind) {
        return (position << POSITION_SHIFT) | ((long) lid << LID_SHIFT) | kind;
    }

    static int kind(long word) {
        return (int) word & KIND_MASK;
    }

    static boolean isClaimedBy(long word, int lid) {
        return kind(word) == CLAIMED && (int) (word >>> LID_SHIFT & LID_MASK) == lid;
    }

    /// The same word with another kind, and without a claim.
    static long withKind(long word, int kind) {
        return (word & -(1L << POSITION_SHIFT)) | kind;
    }

    /// The word that seals the slot of `word` when it is reached again.
    static long sealBehind(long word, long mask) {
        return withKind(word, SEALED) + ((mask + 1) << POSITION_SHIFT);
    }

    /// How far the position in `word` is ahead of `position`; negative if it is behind.
    static long ahead(long word, long position) {
        return (word - (position << POSITION_SHIFT)) >> POSITION_SHIFT;
    }

    /// Advances a tail that is still at a slot that is in use.
    ///
    /// A slot that is ahead of the tail is ahead by the size of the ring. If it is ahead by more, the ring is
    /// corrupted, and the tail moves there in one step.
    static void helpTail(MemorySegment memory, long ring, long mask, long tail, long ahead) {
        SharedWords.compareAndSet(memory, ring + RING_TAIL, tail, tail + Math.max(1, ahead - mask));
    }

    /// How often to look for the tail of a ring. The tail lags behind by at most the size of the ring, and a
    /// producer that loses a slot to others does so a few times: more rounds mean that the ring is being corrupted.
    static long mostRounds(long mask) {
        return 2 * mask + ROUNDS;
    }
}
