package io.rdmacomm.verbs.counters;

import io.rdmacomm.verbs.statistics.ChannelCounter;
import io.rdmacomm.verbs.statistics.ChannelStatistics;

/// The counters of one channel at one moment.
///
/// @param id its number, unique in this process
/// @param session the name of its session
/// @param peer the name and address of the peer; empty if the session has no endpoint
/// @param channel the name of the channel; empty if the session has no endpoint
/// @param inFlight operations in flight
/// @param statistics the counters
public record CounterRecord(
        long id, String session, String peer, String channel, long inFlight, ChannelStatistics statistics) {
    /// The value of a counter.
    public long value(ChannelCounter counter) {
        return statistics.value(counter);
    }
}
