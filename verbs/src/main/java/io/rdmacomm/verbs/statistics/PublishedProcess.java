package io.rdmacomm.verbs.statistics;

import java.util.List;

/// The counters that a process has published at one moment ([PublishedCounters]).
///
/// A rate is the difference of two counters of a channel, divided by that of `publishedNanos`: the process
/// publishes at its own times.
///
/// @param identity the process
/// @param command its main class or jar and its arguments, to show to users; printable, and cut if it is long
/// @param publishedNanos the time of the publication in nanoseconds, from the clock of [System#nanoTime()] of the
///        process: compare it only with that of the same process
/// @param publishedMillis the time of the publication in milliseconds since 1970, by the clock of the machine. A
///        process that has not published for 5 seconds is stopped, or gets no processor
/// @param leftOut the number of channels that had no room in its file, which has room for 1024
/// @param channels its channels and rsockets, and its sessions without an endpoint; immutable
public record PublishedProcess(
        ProcessIdentity identity,
        String command,
        long publishedNanos,
        long publishedMillis,
        int leftOut,
        List<PublishedChannel> channels) {
    /// Copies the list.
    public PublishedProcess {
        channels = List.copyOf(channels);
    }
}
