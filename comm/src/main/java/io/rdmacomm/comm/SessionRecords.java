package io.rdmacomm.comm;

import io.rdmacomm.verbs.counters.CounterSource;
import io.rdmacomm.verbs.statistics.ChannelStatistics;
import io.rdmacomm.verbs.statistics.PublishedChannel;
import java.util.ArrayList;
import java.util.List;

/// The counters of a session for the counters file of the process.
///
/// @param id the number of the record for a session without endpoints
record SessionRecords(ObservedSession session, long id) implements CounterSource {
    private static final int CHANNEL_BITS = 8;

    @Override
    public List<PublishedChannel> records() {
        List<PublishedChannel> records = new ArrayList<>();
        for (PeerConnection connection : session.connections()) {
            String peer = connection.peerName() + " " + connection.peerAddress();
            for (RdmaChannel channel : connection.data()) {
                records.add(record(
                        (connection.number() << CHANNEL_BITS) + channel.index(),
                        peer,
                        "data-" + channel.index(),
                        channel.inFlight(),
                        channel.statistics()));
            }
        }
        if (records.isEmpty()) {
            records.add(record(id, "", "", 0, new ChannelStatistics()));
        }
        return records;
    }

    private PublishedChannel record(
            long number, String peer, String channel, long inFlight, ChannelStatistics statistics) {
        RegisteredMemory memory = session.memory();
        return new PublishedChannel(
                number, session.name(), peer, channel, inFlight, memory.bytes(), memory.limit(), statistics);
    }
}
