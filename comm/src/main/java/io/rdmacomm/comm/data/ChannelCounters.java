package io.rdmacomm.comm.data;

import io.rdmacomm.comm.statistics.ChannelCounter;
import io.rdmacomm.comm.statistics.ChannelStatistics;

/// A channel's counters. Each is written by one thread at a time: those of outgoing operations under the send
/// lock, the others by the polling thread. They are read without synchronization.
public final class ChannelCounters {
    private final long[] values = new long[ChannelCounter.values().length];

    /// Adds 1.
    public void count(ChannelCounter counter) {
        add(counter, 1);
    }

    /// Adds `more`.
    @SuppressWarnings("EnumOrdinal") // the place in the array; a map would cost more
    public void add(ChannelCounter counter, long more) {
        values[counter.ordinal()] += more;
    }

    void started(int kind, long bytes) {
        count(ChannelCounter.OPERATIONS);
        if (kind == Operation.READ) {
            add(ChannelCounter.BYTES_READ, bytes);
        } else if (!Operation.isAtomic(kind)) {
            add(ChannelCounter.BYTES_OUT, bytes);
        }
    }

    void arrived(long bytes, boolean notice) {
        count(notice ? ChannelCounter.NOTICES : ChannelCounter.MESSAGES);
        add(ChannelCounter.BYTES_IN, bytes);
    }

    /// The current values.
    public ChannelStatistics statistics() {
        return new ChannelStatistics(values);
    }
}
