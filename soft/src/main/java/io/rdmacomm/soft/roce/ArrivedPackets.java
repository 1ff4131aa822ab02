package io.rdmacomm.soft.roce;

/// The packets that have arrived early: networks may reorder them. Under the queue pair's send lock.
final class ArrivedPackets {
    /// A packet must be less than this many packets ahead.
    static final int MOST = 128;

    private static final int MASK = MOST - 1;

    private final long[] bits = new long[MOST / Long.SIZE];

    /// A packet has arrived that is less than [#MOST] ahead.
    void add(long packet) {
        int index = (int) packet & MASK;
        bits[index / Long.SIZE] |= 1L << index;
    }

    /// Whether a packet has arrived; forgets it.
    boolean take(long packet) {
        int index = (int) packet & MASK;
        boolean arrived = (bits[index / Long.SIZE] >>> index & 1) != 0;
        bits[index / Long.SIZE] &= ~(1L << index);
        return arrived;
    }
}
