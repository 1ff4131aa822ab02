package io.rdmacomm.cli.bench.result;

import io.rdmacomm.cli.terminal.Rounding;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The latency of one operation.
///
/// @param test the test
/// @param bytes the message size
/// @param samples the time of every operation
/// @param floor the least that this machine needs, in microseconds; 0 if unknown
/// @param spread the medians of the parts of the measurement, in microseconds
public record LatencyResult(BenchTest test, long bytes, LatencySamples samples, double floor, Spread spread)
        implements Result {
    /// The median as a multiple of the floor; 0 if the floor is unknown.
    public double ratio() {
        return floor > 0 ? samples.percentileMicros(50) / floor : 0;
    }

    /// The names of the doubtful members.
    private List<String> uncertain() {
        List<String> names = new ArrayList<>();
        if (samples.isUncertain(99)) {
            names.add("p99_us");
        }
        if (samples.isUncertain(99.9)) {
            names.add("p999_us");
        }
        if (isBeyondTheFloor()) {
            names.add("ratio");
        }
        return names;
    }

    /// Whether it is below the floor, because the machine was slower while that was measured.
    public boolean isBeyondTheFloor() {
        return floor > 0 && ratio() < 1 - Result.TOLERANCE;
    }

    @Override
    public Map<String, Object> toMap() {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("test", test.label());
        members.put("bytes", bytes);
        members.put("iterations", samples.count());
        members.put("min_us", Rounding.to(samples.minMicros(), 4));
        members.put("p50_us", Rounding.to(samples.percentileMicros(50), 4));
        members.put("p99_us", Rounding.to(samples.percentileMicros(99), 4));
        members.put("p999_us", Rounding.to(samples.percentileMicros(99.9), 4));
        members.put("max_us", Rounding.to(samples.maxMicros(), 4));
        members.put("avg_us", Rounding.to(samples.averageMicros(), 4));
        members.put("stdev_us", Rounding.to(samples.deviationMicros(), 4));
        spread.addTo(members, "us");
        if (floor > 0) {
            members.put("floor_us", Rounding.to(floor, 4));
            members.put("ratio", Rounding.to(ratio(), 2));
        }
        members.put("distribution", samples.distribution());
        List<String> uncertain = uncertain();
        if (!uncertain.isEmpty()) {
            members.put("uncertain", uncertain);
        }
        return members;
    }
}
