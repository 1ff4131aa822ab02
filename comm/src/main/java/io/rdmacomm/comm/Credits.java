package io.rdmacomm.comm;

/// How many messages and notices may be sent before the peer runs out of receives. The peer writes the
/// number of receives it has posted so far into this side's memory; looking there costs nothing until the
/// last one known is used up. Guarded by the channel's send lock.
final class Credits {
    private final ChannelMemory memory;
    private long used;
    private long known;
    private long stalledSince;

    Credits(ChannelMemory memory) {
        this.memory = memory;
    }

    /// The peer has posted `receives` before it said that it is ready.
    void begin(int receives) {
        memory.peerReceives(receives);
        known = receives;
    }

    /// Uses up `count` receives of the peer.
    ///
    /// @return whether it has so many
    boolean take(int count) {
        if (used + count > known) {
            known = Math.max(known, memory.peerReceives());
            if (used + count > known) {
                return false;
            }
        }
        used += count;
        return true;
    }

    /// Gives back what was taken for nothing.
    void untake(int count) {
        used -= count;
    }

    /// Notes that an operation waits for a receive of the peer.
    ///
    /// @return whether this is the first since the last success
    boolean beginStall() {
        if (stalledSince == 0) {
            stalledSince = System.nanoTime() | 1;
            return true;
        }
        return false;
    }

    /// Notes that an operation has not had to wait, or no longer has.
    ///
    /// @return how long it waited, in nanoseconds; 0 if it did not
    long endStall() {
        if (stalledSince == 0) {
            return 0;
        }
        long nanos = System.nanoTime() - stalledSince;
        stalledSince = 0;
        return nanos;
    }
}
