package io.rdmacomm.cli.bench;

import java.util.LinkedHashMap;
import java.util.Map;

/// The time of one operation, in microseconds.
///
/// @param test what was measured
/// @param bytes the size of a message
/// @param iterations how many samples there are
/// @param min the shortest
/// @param median the one in the middle
/// @param percentile99 99 of 100 are not longer
/// @param percentile999 999 of 1000 are not longer
/// @param max the longest
/// @param average their mean
/// @param deviation their standard deviation
/// @param floor what this machine needs at least for it; 0 when that is unknown
public record LatencyResult(
        BenchTest test,
        long bytes,
        long iterations,
        double min,
        double median,
        double percentile99,
        double percentile999,
        double max,
        double average,
        double deviation,
        double floor)
        implements Result {
    static LatencyResult of(BenchTest test, long bytes, LatencySamples samples, double floor) {
        return new LatencyResult(
                test,
                bytes,
                samples.count(),
                samples.minMicros(),
                samples.percentileMicros(50),
                samples.percentileMicros(99),
                samples.percentileMicros(99.9),
                samples.maxMicros(),
                samples.averageMicros(),
                samples.deviationMicros(),
                floor);
    }

    /// The median as a multiple of the floor; 0 when the floor is unknown.
    double ratio() {
        return floor > 0 ? median / floor : 0;
    }

    @Override
    public Map<String, Object> toMap() {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("test", test.label());
        members.put("bytes", bytes);
        members.put("iterations", iterations);
        members.put("min_us", Rounding.to(min, 4));
        members.put("p50_us", Rounding.to(median, 4));
        members.put("p99_us", Rounding.to(percentile99, 4));
        members.put("p999_us", Rounding.to(percentile999, 4));
        members.put("max_us", Rounding.to(max, 4));
        members.put("avg_us", Rounding.to(average, 4));
        members.put("stdev_us", Rounding.to(deviation, 4));
        if (floor > 0) {
            members.put("floor_us", Rounding.to(floor, 4));
            members.put("ratio", Rounding.to(ratio(), 2));
        }
        return members;
    }
}
