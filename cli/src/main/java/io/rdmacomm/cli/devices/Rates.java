package io.rdmacomm.cli.devices;

import io.rdmacomm.verbs.statistics.ChannelCounter;
import io.rdmacomm.verbs.statistics.PublishedChannel;
import org.jspecify.annotations.Nullable;

/// The activity of a channel between two publications, per second.
///
/// @param operations accepted operations
/// @param messages messages and notices that arrived
/// @param bytesIn bytes of READs, and of arrived messages and WRITEs with notice
/// @param bytesOut bytes of SENDs and WRITEs
/// @param windowStalls how often the send window was full
/// @param creditStalls how often the peer had no receive left
record Rates(
        double operations, double messages, double bytesIn, double bytesOut, double windowStalls, double creditStalls) {
    /// The rates between two records of a channel; null if no time lies between them, or if a counter is lower in
    /// the later one.
    static @Nullable Rates between(PublishedChannel before, PublishedChannel now, double seconds) {
        for (ChannelCounter counter : ChannelCounter.values()) {
            if (now.value(counter) < before.value(counter)) {
                return null;
            }
        }
        if (!(seconds > 0)) {
            return null;
        }
        return new Rates(
                rate(before, now, seconds, ChannelCounter.OPERATIONS),
                rate(before, now, seconds, ChannelCounter.MESSAGES)
                        + rate(before, now, seconds, ChannelCounter.NOTICES),
                rate(before, now, seconds, ChannelCounter.BYTES_IN)
                        + rate(before, now, seconds, ChannelCounter.BYTES_READ),
                rate(before, now, seconds, ChannelCounter.BYTES_OUT),
                rate(before, now, seconds, ChannelCounter.WINDOW_STALLS),
                rate(before, now, seconds, ChannelCounter.CREDIT_STALLS));
    }

    private static double rate(PublishedChannel before, PublishedChannel now, double seconds, ChannelCounter counter) {
        return (now.value(counter) - before.value(counter)) / seconds;
    }

    /// How busy the channel is, for the order of the rows.
    double activity() {
        return operations + messages;
    }
}
