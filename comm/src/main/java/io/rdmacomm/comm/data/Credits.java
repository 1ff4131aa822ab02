package io.rdmacomm.comm.data;

import io.rdmacomm.verbs.counters.ChannelCounters;
import io.rdmacomm.verbs.statistics.ChannelCounter;
import jdk.jfr.FlightRecorder;

/// The number of messages and notices that may be sent before the peer runs out of receives. The peer writes
/// the number of receives it has posted so far into this side's memory; that memory is only read when the
/// last known number is used up. Guarded by the send lock.
final class Credits {
    private final String channel;
    private final ChannelMemory memory;
    private final ChannelCounters counters;
    private long used;
    private long known;
    private int atFirst;
    private long stalledSince;

    /// @param channel its name, for the flight recorder
    Credits(String channel, ChannelMemory memory, ChannelCounters counters) {
        this.channel = channel;
        this.memory = memory;
        this.counters = counters;
    }

    /// The peer has posted `receives` before it sent READY.
    void begin(int receives) {
        memory.peerReceives(receives);
        known = receives;
        atFirst = receives;
    }

    /// Uses up `count` receives of the peer.
    ///
    /// @return false if it has fewer
    boolean take(int count) {
        if (used + count > known) {
            known = Math.max(known, memory.peerReceives());
            if (used + count > known) {
                beginStall();
                return false;
            }
        }
        used += count;
        if (stalledSince != 0) {
            endStall();
        }
        return true;
    }

    /// Returns the credits of an operation that was not posted.
    void giveBack(int count) {
        used -= count;
    }

    /// Gives up unused receives of the peer, except the initial number: this side never uses them.
    ///
    /// @return how many were given up
    int surrender() {
        known = Math.max(known, memory.peerReceives());
        int spare = (int) Math.max(0, known - used - atFirst);
        used += spare;
        return spare;
    }

    private void beginStall() {
        if (stalledSince == 0) {
            stalledSince = System.nanoTime() | 1;
            counters.count(ChannelCounter.CREDIT_STALLS);
        }
    }

    private void endStall() {
        long nanos = System.nanoTime() - stalledSince;
        stalledSince = 0;
        if (FlightRecorder.isInitialized()) {
            record(nanos);
        }
    }

    private void record(long nanos) {
        CreditStallEvent event = new CreditStallEvent();
        if (event.shouldCommit()) {
            event.channel = channel;
            event.nanos = nanos;
            event.commit();
        }
    }
}
