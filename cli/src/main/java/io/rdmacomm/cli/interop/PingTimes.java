package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.CountText;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.HdrHistogram.Histogram;

/// Round-trip times.
final class PingTimes {
    private static final long MAX_NANOS = 100_000_000_000L;

    /// The number of pings after which the JIT compilers have done most of their work.
    static final int WARM_PINGS = 20_000;

    private static final double MEDIAN = 50;
    private static final List<Double> PERCENTILES = List.of(MEDIAN, 99.0, 99.9);
    private static final double ENOUGH = 9.999;

    private final Histogram histogram = new Histogram(1, MAX_NANOS, 3);

    void record(long nanos) {
        histogram.recordValue(Math.clamp(nanos, 1, MAX_NANOS));
    }

    /// The summary for people.
    String line() {
        String count = CountText.of(histogram.getTotalCount(), "ping");
        if (isEmpty()) {
            return count;
        }
        StringBuilder text = new StringBuilder(count).append(", all correct; round trip");
        add(text, " min ", histogram.getMinValue() / 1e3);
        for (double percentile : PERCENTILES) {
            if (isKnown(percentile)) {
                add(text, ", p" + Double.toString(percentile).replaceFirst("\\.0$", "") + " ", micros(percentile));
            }
        }
        add(text, ", max ", histogram.getMaxValue() / 1e3);
        return text.append(" us").toString();
    }

    private static void add(StringBuilder text, String name, double micros) {
        text.append(name).append(String.format(Locale.ROOT, "%.1f", micros));
    }

    /// Whether enough pings lie beyond the percentile for it to mean something.
    private boolean isKnown(double percentile) {
        return percentile == MEDIAN || histogram.getTotalCount() * (100 - percentile) >= 100 * ENOUGH;
    }

    /// Whether the JVM had compiled what it needs before most of the pings.
    boolean isWarm() {
        return histogram.getTotalCount() >= WARM_PINGS;
    }

    boolean isEmpty() {
        return histogram.getTotalCount() == 0;
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
