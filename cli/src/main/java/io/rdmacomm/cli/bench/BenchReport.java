package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.bench.trial.Column;
import io.rdmacomm.cli.bench.trial.MachineFloors;
import io.rdmacomm.cli.bench.trial.Modes;
import io.rdmacomm.cli.bench.trial.Result;
import io.rdmacomm.cli.bench.trial.SocketFloor;
import io.rdmacomm.cli.command.DeviceLine;
import io.rdmacomm.cli.command.Rounding;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Everything that a benchmark measured.
///
/// @param provider the provider of the device
/// @param device the device, port and GID that the client used
/// @param modes the modes of the blocking calls; null if all tests polled
/// @param floors the limits of the machines without RDMA
/// @param socketAtEnd the figures of a plain TCP socket after all tests
/// @param setupTimes the time to set up each connection, from connecting the TCP socket until ready to send
/// @param results the measurements, in order
public record BenchReport(
        String provider,
        DeviceLine device,
        @Nullable Modes modes,
        MachineFloors floors,
        SocketFloor.Figures socketAtEnd,
        List<Duration> setupTimes,
        List<Result> results) {
    /// The members of the report's JSON document, except for `schema` and `environment`.
    public Map<String, Object> toMap() {
        Map<String, Object> members = new LinkedHashMap<>();
        device.addTo(members);
        if (modes != null) {
            modes.addTo(members);
        }
        floors.addTo(members);
        socketAtEnd.addTo(members, "_at_end");
        members.put("setup_p50_ms", Rounding.to(medianSetupMillis(), 3));
        members.put("data_verified", true);
        members.put("results", results.stream().map(Result::toMap).toList());
        return members;
    }

    /// Whether the results compare several modes.
    boolean comparesModes() {
        return results.stream().anyMatch(result -> result.has(Column.BUSY_CLIENT));
    }

    /// The median time to set up a connection, in milliseconds; 0 if there was none.
    public double medianSetupMillis() {
        List<Duration> sorted = setupTimes.stream().sorted().toList();
        return sorted.isEmpty() ? 0 : sorted.get(sorted.size() / 2).toNanos() / 1e6;
    }
}
