package io.rdmacomm.cli.mesh;

import io.rdmacomm.cli.command.Rounding;
import java.nio.ByteBuffer;
import java.util.Map;
import org.HdrHistogram.Histogram;

/// Latencies of writes, from post to completion, in nanoseconds.
///
/// @param count the number of writes
record Latencies(long count, long p50, long p99, long p999, long max) {
    static final int BYTES = 40;

    private static final long LONGEST_NANOS = 100_000_000_000L;
    private static final int DIGITS = 2;

    static Histogram newHistogram() {
        return new Histogram(1, LONGEST_NANOS, DIGITS);
    }

    static void record(Histogram histogram, long nanos) {
        histogram.recordValue(Math.clamp(nanos, 0, LONGEST_NANOS));
    }

    static Latencies of(Histogram histogram) {
        return new Latencies(
                histogram.getTotalCount(),
                histogram.getValueAtPercentile(50),
                histogram.getValueAtPercentile(99),
                histogram.getValueAtPercentile(99.9),
                histogram.getMaxValue());
    }

    void put(ByteBuffer to) {
        to.putLong(count).putLong(p50).putLong(p99).putLong(p999).putLong(max);
    }

    static Latencies get(ByteBuffer from) {
        return new Latencies(from.getLong(), from.getLong(), from.getLong(), from.getLong(), from.getLong());
    }

    void addTo(Map<String, Object> members) {
        members.put("writes", count);
        members.put("p50_us", micros(p50));
        members.put("p99_us", micros(p99));
        members.put("p999_us", micros(p999));
        members.put("max_us", micros(max));
    }

    static double micros(long nanos) {
        return Rounding.to(nanos / 1e3, 3);
    }
}
