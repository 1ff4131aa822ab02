package io.rdmacomm.verbs.counters;

import io.rdmacomm.verbs.statistics.ChannelCounter;
import io.rdmacomm.verbs.statistics.ChannelStatistics;

/// A channel's counters. Each is written by one thread at a time. They are read without synchronization.
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

    /// The current values.
    public ChannelStatistics statistics() {
        return new ChannelStatistics(values);
    }
}
