package io.rdmacomm.comm.progress;

/// The number of a work request. A completion finds its operation by it, without a search.
///
/// ```
///  63      62        52 51     40 39                              0
/// +-------+------------+---------+---------------------------------+
/// |receive| generation |  slot   |  sequence                       |
/// +-------+------------+---------+---------------------------------+
/// ```
///
/// Slot and generation identify the member of a completion group: a late completion of a member that has left
/// carries an old generation. The sequence counts the operations of a member, or is the number of a receive.
public final class WorkId {
    /// The number of members that a group can have.
    public static final int MAX_SLOTS = 1 << 12;
    static final int MAX_GENERATIONS = 1 << 11;

    private static final int SLOT_SHIFT = 40;
    private static final int GENERATION_SHIFT = 52;
    private static final long SEQUENCE_MASK = (1L << SLOT_SHIFT) - 1;

    private WorkId() {}

    /// The part that all work of a member shares.
    public static long base(int slot, int generation) {
        return (long) generation << GENERATION_SHIFT | (long) slot << SLOT_SHIFT;
    }

    /// The number of an operation.
    public static long send(long base, long sequence) {
        return base | (sequence & SEQUENCE_MASK);
    }

    /// The number of a receive.
    public static long receive(long base, int index) {
        return base | Long.MIN_VALUE | index;
    }

    /// The number of a receive in a shared receive queue, which belongs to no member.
    public static long sharedReceive(int index) {
        return receive(0, index);
    }

    /// Whether `workId` is the number of a receive in a shared receive queue: the generations of members begin at 1.
    public static boolean isSharedReceive(long workId) {
        return isReceive(workId) && base(workId) == 0;
    }

    /// Whether `workId` is the number of a receive.
    public static boolean isReceive(long workId) {
        return workId < 0;
    }

    /// The shared part of `workId`.
    public static long base(long workId) {
        return workId & Long.MAX_VALUE & ~SEQUENCE_MASK;
    }

    /// The slot of the member.
    public static int slot(long workId) {
        return (int) (workId >>> SLOT_SHIFT) & MAX_SLOTS - 1;
    }

    /// The full sequence number of an operation that is not before `oldest`.
    public static long sequence(long workId, long oldest) {
        return oldest + (workId - oldest & SEQUENCE_MASK);
    }

    /// Which receive of its member it is.
    public static int index(long workId) {
        return (int) workId;
    }
}
