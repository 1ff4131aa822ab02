package io.rdmacomm.comm.counters;

import java.util.Map;

/// The counters of one channel at one moment.
///
/// @param id its number, which no other record of the process has had
/// @param session the name of its session
/// @param peer the name and address of the peer; empty if the session has no endpoint
/// @param channel the name of the channel; empty if the session has no endpoint
/// @param values the counters; none is missing
public record CounterRecord(long id, String session, String peer, String channel, Map<Counter, Long> values) {
    /// Copies the counters.
    public CounterRecord {
        values = Map.copyOf(values);
    }

    /// The value of a counter; 0 if it is missing.
    public long value(Counter counter) {
        return values.getOrDefault(counter, 0L);
    }
}
