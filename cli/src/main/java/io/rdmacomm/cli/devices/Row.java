package io.rdmacomm.cli.devices;

import io.rdmacomm.verbs.statistics.ChannelCounter;
import io.rdmacomm.verbs.statistics.PublishedChannel;
import io.rdmacomm.verbs.statistics.PublishedProcess;
import org.jspecify.annotations.Nullable;

/// A channel of a process, or a session without endpoints.
///
/// @param process the process
/// @param counters its counters
/// @param rates its activity; null if the process has not published twice, or not for a while
record Row(
        PublishedProcess process,
        PublishedChannel counters,
        @Nullable Rates rates) {
    /// Operations that failed or were flushed, and exceptions of handlers, so far.
    long errors() {
        return counters.value(ChannelCounter.FAILED) + counters.value(ChannelCounter.HANDLER_ERRORS);
    }

    /// The memory that its session has registered, in bytes; null if it is unknown.
    @Nullable
    Long registeredBytes() {
        long bytes = counters.registeredBytes();
        return bytes < 0 ? null : bytes;
    }

    /// The limit for that memory, in bytes; null without one.
    @Nullable
    Long memoryLimit() {
        long bytes = counters.memoryLimit();
        return bytes == Long.MAX_VALUE ? null : bytes;
    }

    double bytesPerSecond() {
        return rates == null ? 0 : rates.bytesIn() + rates.bytesOut();
    }

    double activity() {
        return rates == null ? 0 : rates.activity();
    }
}
