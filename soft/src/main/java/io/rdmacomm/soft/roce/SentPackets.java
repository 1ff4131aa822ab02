package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.roce.wire.Psn;

/// The packets of one direction by number. Packets are counted from 0 here, in 64 bits, because a message may have
/// more packets than sequence numbers can distinguish.
final class SentPackets {
    private final int first;
    private final long[] begin;
    private final long[] end;
    private final int mask;

    /// @param first packet sequence number
    /// @param requests the most requests at a time, a power of two
    SentPackets(int first, int requests) {
        this.first = first;
        this.begin = new long[requests];
        this.end = new long[requests];
        this.mask = requests - 1;
    }

    /// The sequence number of a packet.
    int psn(long packet) {
        return (int) (first + packet) & Psn.MASK;
    }

    /// The packet with this sequence number that is nearest to `near`.
    long packet(int psn, long near) {
        return near + Psn.distance(psn, psn(near));
    }

    /// Sets the packets of the request at `position`.
    void set(long position, long from, long count) {
        begin[(int) position & mask] = from;
        end[(int) position & mask] = from + count;
    }

    /// The first packet of a request.
    long begin(long position) {
        return begin[(int) position & mask];
    }

    /// The packet after the last one of a request.
    long end(long position) {
        return end[(int) position & mask];
    }
}
