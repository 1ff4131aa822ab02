package io.rdmacomm.cli.bench;

import java.util.Map;

/// What the two machines do without any RDMA, measured in the same run as the rest.
///
/// @param clock what the clock costs
/// @param cacheLineMicros the limit for a message one way through shared memory; 0 when the peer is not on this
///        machine or it was not measured
/// @param socket what a plain TCP socket does between them
public record MachineFloors(ClockCost clock, double cacheLineMicros, SocketFigures socket) {
    void addTo(Map<String, Object> members) {
        members.put(
                "clock",
                Map.of(
                        "ns_per_reading",
                        Rounding.to(clock.nanosPerReading(), 1),
                        "granularity_ns",
                        clock.granularityNanos()));
        if (cacheLineMicros > 0) {
            members.put("cache_line_us", Rounding.to(cacheLineMicros, 4));
        }
        socket.addTo(members, "");
    }
}
