package io.rdmacomm.soft.roce.wire;

/// Packet sequence numbers: 24 bits, compared modulo 2^24 (IBTA 9.7.2).
public final class Psn {
    /// The bits of a packet sequence number, and of a queue pair number.
    public static final int MASK = 0xff_ffff;

    private static final int SHIFT = 8;

    private Psn() {}

    /// The number `count` packets after `psn`.
    public static int add(int psn, int count) {
        return (psn + count) & MASK;
    }

    /// The number of packets that `psn` is ahead of `other`; negative if it is behind.
    public static int distance(int psn, int other) {
        return (psn - other) << SHIFT >> SHIFT;
    }
}
