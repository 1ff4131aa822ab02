package io.rdmacomm.comm;

import io.rdmacomm.comm.counters.Counter;
import io.rdmacomm.comm.counters.CounterRecord;
import io.rdmacomm.comm.counters.CounterSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/// The counters of a session for the counters file of the process.
///
/// @param id the number of the record that stands for a session without endpoints
record SessionRecords(Session session, long id) implements CounterSource {
    private static final int CHANNEL_BITS = 8;

    @Override
    public List<CounterRecord> records() {
        List<CounterRecord> records = new ArrayList<>();
        for (EndPoint endPoint : session.endPoints()) {
            String peer = endPoint.peerName() + " " + endPoint.peerAddress();
            for (RdmaChannel channel : endPoint.channels()) {
                records.add(new CounterRecord(
                        (endPoint.number() << CHANNEL_BITS) + channel.index(),
                        session.name(),
                        peer,
                        "data-" + channel.index(),
                        values(channel.statistics(), channel.inFlight())));
            }
        }
        if (records.isEmpty()) {
            records.add(new CounterRecord(id, session.name(), "", "", values(ChannelStatistics.NONE, 0)));
        }
        return records;
    }

    private static Map<Counter, Long> values(ChannelStatistics statistics, long inFlight) {
        Map<Counter, Long> values = new EnumMap<>(Counter.class);
        values.put(Counter.OPERATIONS, statistics.operations());
        values.put(Counter.COMPLETED, statistics.completed());
        values.put(Counter.FAILED, statistics.failed());
        values.put(Counter.BYTES_OUT, statistics.bytesOut());
        values.put(Counter.BYTES_READ, statistics.bytesRead());
        values.put(Counter.MESSAGES, statistics.messages());
        values.put(Counter.NOTICES, statistics.notices());
        values.put(Counter.BYTES_IN, statistics.bytesIn());
        values.put(Counter.WINDOW_STALLS, statistics.windowStalls());
        values.put(Counter.CREDIT_STALLS, statistics.creditStalls());
        values.put(Counter.CREDIT_UPDATES, statistics.creditUpdates());
        values.put(Counter.HANDLER_ERRORS, statistics.handlerErrors());
        values.put(Counter.IN_FLIGHT, inFlight);
        return values;
    }
}
