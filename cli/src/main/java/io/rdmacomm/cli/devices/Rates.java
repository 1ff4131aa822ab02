package io.rdmacomm.cli.devices;

import io.rdmacomm.verbs.counters.CounterRecord;
import io.rdmacomm.verbs.statistics.ChannelCounter;
import org.jspecify.annotations.Nullable;

/// The activity of a channel between two publications, each per second.
///
/// @param operations operations that were accepted
/// @param messages messages and notices that arrived
/// @param bytesIn bytes of READs, and of messages and WRITEs with notice that arrived
/// @param bytesOut bytes of SENDs and WRITEs
/// @param windowStalls how often the send window was full
/// @param creditStalls how often the peer had no receive left
record Rates(
        double operations, double messages, double bytesIn, double bytesOut, double windowStalls, double creditStalls) {
    /// The rates between two records of a channel; null if they cannot be of the same channel, the earlier one first.
    static @Nullable Rates between(CounterRecord before, CounterRecord now, double seconds) {
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

    private static double rate(CounterRecord before, CounterRecord now, double seconds, ChannelCounter counter) {
        return (now.value(counter) - before.value(counter)) / seconds;
    }

    /// How busy the channel is, to show the busiest first.
    double activity() {
        return operations + messages;
    }
}
