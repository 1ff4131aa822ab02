package io.rdmacomm.cli.bench;

import org.HdrHistogram.Histogram;

/// All samples of one latency test. Round trips are halved only when they are reported, so that they are not
/// rounded to whole nanoseconds before.
final class LatencySamples {
    private static final long MAX_NANOS = 100_000_000_000L;

    private final Histogram histogram = new Histogram(1, MAX_NANOS, 3);
    private final int hops;
    private long count;
    private double sum;
    private double squares;
    private long min = Long.MAX_VALUE;
    private long max;

    LatencySamples(int hops) {
        this.hops = hops;
    }

    /// Adds the differences between `count + 1` clock readings.
    void add(long[] readings, int count) {
        for (int i = 0; i < count; i++) {
            add(readings[i + 1] - readings[i]);
        }
    }

    private void add(long nanos) {
        histogram.recordValue(Math.clamp(nanos, 0, MAX_NANOS));
        count++;
        sum += nanos;
        squares += (double) nanos * nanos;
        min = Math.min(min, nanos);
        max = Math.max(max, nanos);
    }

    long count() {
        return count;
    }

    double minMicros() {
        return micros((double) min);
    }

    double maxMicros() {
        return micros((double) max);
    }

    double averageMicros() {
        return micros(sum / count);
    }

    double deviationMicros() {
        double mean = sum / count;
        return micros(Math.sqrt(Math.max(0, squares / count - mean * mean)));
    }

    /// @param percentile 0 to 100
    double percentileMicros(double percentile) {
        return micros((double) Math.min(histogram.getValueAtPercentile(percentile), max));
    }

    private double micros(double nanos) {
        return nanos / hops / 1000.0;
    }
}
