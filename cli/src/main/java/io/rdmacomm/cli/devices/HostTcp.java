package io.rdmacomm.cli.devices;

/// The TCP of the host between two samples.
///
/// @param total the counters now
/// @param segmentsOut segments per second that were sent
/// @param retransmitted segments per second that were sent again
/// @param timeouts timeouts per second
record HostTcp(TcpStatistics total, double segmentsOut, double retransmitted, double timeouts) {
    static HostTcp between(TcpStatistics before, TcpStatistics now, double seconds) {
        return new HostTcp(
                now,
                (now.segmentsOut() - before.segmentsOut()) / seconds,
                (now.retransmitted() - before.retransmitted()) / seconds,
                (now.timeouts() - before.timeouts()) / seconds);
    }
}
