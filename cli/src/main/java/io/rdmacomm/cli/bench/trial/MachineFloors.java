package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.cli.command.Rounding;
import io.rdmacomm.cli.rig.FrameChannel;
import java.io.IOException;
import java.util.Map;

/// The limits of the two machines without RDMA, measured in the same run as the tests.
///
/// @param clock the cost of reading the clock
/// @param cacheLineMicros the lower bound for a message in one direction through shared memory; 0 if the peer is on
///     another machine, or if it was not measured
/// @param socket the performance of a plain TCP socket between them
public record MachineFloors(ClockCost clock, double cacheLineMicros, SocketFloor.Figures socket) {
    /// Measures the cost of the clock and of a cache line between the two sides.
    ///
    /// @param socket the performance of a plain TCP socket between them
    public static MachineFloors measure(FrameChannel<BenchMessage> control, SocketFloor.Figures socket)
            throws IOException {
        return new MachineFloors(ClockCost.measure(), CacheLineFloor.measure(control, CacheLineFloor::best), socket);
    }

    public void addTo(Map<String, Object> members) {
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
