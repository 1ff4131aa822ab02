package io.rdmacomm.comm;

/// What this layer puts into the number of a work request, so that its completion finds its operation
/// without a search.
///
/// ```
///  63      62        52 51     40 39                              0
/// +-------+------------+---------+---------------------------------+
/// |receive| generation |  slot   |  sequence                       |
/// +-------+------------+---------+---------------------------------+
/// ```
///
/// Slot and generation name the adapter in its completion group: a late completion of an adapter that is
/// gone carries another generation. The sequence counts the operations of an adapter, or is the number of a
/// receive.
final class WorkId {
    static final int MAX_SLOTS = 1 << 12;
    static final int MAX_GENERATIONS = 1 << 11;

    private static final int SLOT_SHIFT = 40;
    private static final int GENERATION_SHIFT = 52;
    private static final long SEQUENCE_MASK = (1L << SLOT_SHIFT) - 1;

    private WorkId() {}

    /// The part that all operations of an adapter share.
    static long base(int slot, int generation) {
        return (long) generation << GENERATION_SHIFT | (long) slot << SLOT_SHIFT;
    }

    static long send(long base, long sequence) {
        return base | (sequence & SEQUENCE_MASK);
    }

    static long receive(long base, int index) {
        return base | Long.MIN_VALUE | index;
    }

    static boolean isReceive(long workId) {
        return workId < 0;
    }

    /// The shared part of `workId`.
    static long base(long workId) {
        return workId & Long.MAX_VALUE & ~SEQUENCE_MASK;
    }

    static int slot(long workId) {
        return (int) (workId >>> SLOT_SHIFT) & MAX_SLOTS - 1;
    }

    /// The full sequence number of an operation that is not before `oldest`.
    static long sequence(long workId, long oldest) {
        return oldest + (workId - oldest & SEQUENCE_MASK);
    }

    /// The number of a receive.
    static int index(long workId) {
        return (int) workId;
    }
}
