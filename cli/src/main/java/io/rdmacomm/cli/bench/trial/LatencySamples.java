package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.cli.command.Rounding;
import java.util.List;
import org.HdrHistogram.Histogram;

/// All samples of one latency test: operations, or groups of them. Round trips are halved and groups divided
/// only when reported, so that the parts are not rounded to whole nanoseconds.
public final class LatencySamples {
    private static final long MAX_NANOS = 100_000_000_000L;

    private static final List<Double> PERCENTILES =
            List.of(0.0, 1.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99, 99.999, 100.0);

    private static final int FEWEST_BEYOND = 10;

    private final Histogram histogram = new Histogram(1, MAX_NANOS, 3);
    private final int group;
    private final double divisor;
    private long count;
    private double sum;
    private double squares;
    private long min = Long.MAX_VALUE;
    private long max;

    /// @param hops the number of messages in an operation
    /// @param group the number of operations in a sample
    public LatencySamples(int hops, int group) {
        this.group = group;
        this.divisor = 1000.0 * hops * group;
    }

    /// The number of operations in a sample.
    int group() {
        return group;
    }

    /// Adds the differences between `count + 1` clock readings.
    public void add(long[] readings, int count) {
        for (int i = 0; i < count; i++) {
            add(readings[i + 1] - readings[i]);
        }
    }

    /// Adds the samples of `other`.
    public void add(LatencySamples other) {
        histogram.add(other.histogram);
        count += other.count;
        sum += other.sum;
        squares += other.squares;
        min = Math.min(min, other.min);
        max = Math.max(max, other.max);
    }

    private void add(long nanos) {
        histogram.recordValue(Math.clamp(nanos, 0, MAX_NANOS));
        count++;
        sum += nanos;
        squares += (double) nanos * nanos;
        min = Math.min(min, nanos);
        max = Math.max(max, nanos);
    }

    public long count() {
        return count;
    }

    public double minMicros() {
        return micros((double) min);
    }

    public double maxMicros() {
        return micros((double) max);
    }

    public double averageMicros() {
        return micros(sum / count);
    }

    public double deviationMicros() {
        double mean = sum / count;
        return micros(Math.sqrt(Math.max(0, squares / count - mean * mean)));
    }

    /// Whether too few samples were slower than a percentile for it to be meaningful.
    ///
    /// @param percentile 0 to 100
    public boolean isUncertain(double percentile) {
        return count * (100 - percentile) / 100 < FEWEST_BEYOND;
    }

    /// The time within which this percentage of the operations completed.
    ///
    /// @param percentile 0 to 100
    public double percentileMicros(double percentile) {
        return micros((double) Math.min(histogram.getValueAtPercentile(percentile), max));
    }

    /// A copy of all samples in nanoseconds: whole groups, and whole round trips for tests that report half of
    /// one.
    public Histogram histogram() {
        return histogram.copy();
    }

    /// Pairs of a percentile and its time in microseconds.
    List<List<Double>> distribution() {
        return PERCENTILES.stream()
                .map(percentile -> List.of(percentile, Rounding.to(percentileMicros(percentile), 4)))
                .toList();
    }

    private double micros(double nanos) {
        return nanos / divisor;
    }
}
