package io.rdmacomm.cli;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.HdrHistogram.Histogram;

/// Round-trip times.
final class PingTimes {
    private static final long MAX_NANOS = 100_000_000_000L;

    private final Histogram histogram = new Histogram(1, MAX_NANOS, 3);

    void record(long nanos) {
        histogram.recordValue(Math.clamp(nanos, 1, MAX_NANOS));
    }

    /// The summary for people.
    String line() {
        return String.format(
                Locale.ROOT,
                "%d pings, all correct; round trip min %.1f, p50 %.1f, p99 %.1f, p99.9 %.1f, max %.1f us",
                histogram.getTotalCount(),
                histogram.getMinValue() / 1e3,
                micros(50),
                micros(99),
                micros(99.9),
                histogram.getMaxValue() / 1e3);
    }

    /// The summary for JSON.
    ///
    /// @param bytes the message size
    Map<String, Object> toMap(int bytes) {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("bytes", bytes);
        members.put("pings", histogram.getTotalCount());
        members.put("min_us", histogram.getMinValue() / 1e3);
        members.put("p50_us", micros(50));
        members.put("p99_us", micros(99));
        members.put("p999_us", micros(99.9));
        members.put("max_us", histogram.getMaxValue() / 1e3);
        return members;
    }

    private double micros(double percentile) {
        return histogram.getValueAtPercentile(percentile) / 1e3;
    }
}
