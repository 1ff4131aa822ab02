package io.rdmacomm.verbs.statistics;

/// The counters of one channel or rsocket of a process, as the process has published them ([PublishedCounters]).
/// The texts have only printable characters if they were read from a file; a long one was cut.
///
/// @param id its number, unique in its process, also among channels that are closed
/// @param session the name of its session; `sockets on DEVICE` for an rsocket
/// @param peer the name and address of the peer; empty if the session has no endpoint
/// @param channel the name of the channel, or the local address of the rsocket; empty if the session has no
///        endpoint
/// @param inFlight the number of operations in flight
/// @param registeredBytes the memory that its session has registered, in bytes, the same in all records of the
///        session; -1 if it is unknown, as for rsockets
/// @param memoryLimit the limit for that memory, in bytes; [Long#MAX_VALUE] without one
/// @param statistics the counters
public record PublishedChannel(
        long id,
        String session,
        String peer,
        String channel,
        long inFlight,
        long registeredBytes,
        long memoryLimit,
        ChannelStatistics statistics) {
    /// A record whose memory is unknown.
    public PublishedChannel(
            long id, String session, String peer, String channel, long inFlight, ChannelStatistics statistics) {
        this(id, session, peer, channel, inFlight, -1, Long.MAX_VALUE, statistics);
    }

    /// The value of a counter, in its unit ([ChannelCounter#unit()]).
    public long value(ChannelCounter counter) {
        return statistics.value(counter);
    }
}
