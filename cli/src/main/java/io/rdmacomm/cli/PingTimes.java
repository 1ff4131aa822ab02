package io.rdmacomm.cli;

import io.rdmacomm.verbs.Device;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.HdrHistogram.Histogram;

/// How long pings took, there and back.
final class PingTimes {
    private static final long LONGEST_NANOS = 100_000_000_000L;

    private final Histogram histogram = new Histogram(1, LONGEST_NANOS, 3);

    void record(long nanos) {
        histogram.recordValue(Math.clamp(nanos, 1, LONGEST_NANOS));
    }

    /// The summary for people.
    String line() {
        return String.format(
                Locale.ROOT,
                "%d pings, %d right; there and back min %.1f, p50 %.1f, p99 %.1f, p99.9 %.1f, max %.1f us",
                histogram.getTotalCount(),
                histogram.getTotalCount(),
                histogram.getMinValue() / 1e3,
                histogram.getValueAtPercentile(50) / 1e3,
                histogram.getValueAtPercentile(99) / 1e3,
                histogram.getValueAtPercentile(99.9) / 1e3,
                histogram.getMaxValue() / 1e3);
    }

    /// The summary for machines.
    ///
    /// @param bytes the length of a message
    Map<String, Object> document(Device device, int bytes) {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("schema", 1);
        document.put("environment", Environment.describe(device.provider(), device.name()));
        document.put("bytes", bytes);
        document.put("pings", histogram.getTotalCount());
        document.put("min_us", histogram.getMinValue() / 1e3);
        document.put("p50_us", histogram.getValueAtPercentile(50) / 1e3);
        document.put("p99_us", histogram.getValueAtPercentile(99) / 1e3);
        document.put("p999_us", histogram.getValueAtPercentile(99.9) / 1e3);
        document.put("max_us", histogram.getMaxValue() / 1e3);
        return document;
    }
}
