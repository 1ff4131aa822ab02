package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.cli.command.ChoiceText;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The result of one measurement: a value for each of its columns.
public final class Result {
    /// How far a result may lie beyond a limit of the machine, as a fraction.
    private static final double TOLERANCE = 0.05;

    private final BenchTest test;
    private final long bytes;
    private final @Nullable LatencySamples samples;
    private final Map<Column, Object> values = new EnumMap<>(Column.class);
    private final Set<Column> uncertain = EnumSet.noneOf(Column.class);

    private Result(BenchTest test, long bytes, long iterations, @Nullable LatencySamples samples) {
        this.test = test;
        this.bytes = bytes;
        this.samples = samples;
        put(Column.TEST, test.label()).put(Column.BYTES, bytes).put(Column.ITERATIONS, iterations);
    }

    /// The latency of one operation.
    ///
    /// @param samples the time of every operation or group
    /// @param floor the least time that this machine needs, in microseconds; 0 if unknown
    /// @param above how much longer the operation takes, in microseconds
    /// @param spread the medians of the parts of the measurement, in microseconds
    public static Result latency(
            BenchTest test, long bytes, LatencySamples samples, double floor, double above, Spread spread) {
        Result result = new Result(test, bytes, samples.count() * samples.group(), samples)
                .put(Column.GROUP, samples.group())
                .put(Column.MIN, samples.minMicros())
                .put(Column.P50, samples.percentileMicros(50))
                .put(Column.P99, samples.percentileMicros(99))
                .put(Column.P999, samples.percentileMicros(99.9))
                .put(Column.MAX, samples.maxMicros())
                .put(Column.AVERAGE, samples.averageMicros())
                .put(Column.DEVIATION, samples.deviationMicros())
                .floor(samples.percentileMicros(50), floor, above, spread);
        result.doubt(samples.isUncertain(99), Column.P99);
        result.doubt(samples.isUncertain(99.9), Column.P999);
        return result;
    }

    /// The mean latency, measured without clock readings between the operations.
    ///
    /// @param nanos the time of all operations
    /// @param floor the least time that this machine needs, in microseconds; 0 if unknown
    /// @param above how much longer the operation takes, in microseconds
    /// @param spread the means of the parts of the measurement, in microseconds
    public static Result mean(
            BenchTest test, long bytes, long iterations, long nanos, double floor, double above, Spread spread) {
        double micros = nanos / 1000.0 / iterations / test.hops();
        return new Result(test, bytes, iterations, null)
                .put(Column.AVERAGE, micros)
                .floor(micros, floor, above, spread);
    }

    private Result floor(double micros, double floor, double above, Spread spread) {
        put(Column.LOW_LATENCY, spread.low()).put(Column.HIGH_LATENCY, spread.high());
        if (floor > 0) {
            put(Column.FLOOR, floor).put(Column.ABOVE_FLOOR, above).put(Column.RATIO, micros / floor);
            doubt(micros / floor < 1 - TOLERANCE, Column.RATIO);
        }
        return this;
    }

    /// The throughput of many operations in flight.
    ///
    /// @param iterations the number of messages, in both directions together
    /// @param nanos the time from the first post to the last completion
    /// @param cpuNanos the CPU time of both sides
    /// @param copyGbps the rate at which one thread of this machine copies memory, in 10^9 bits per second; 0 if
    ///     unknown
    /// @param spread the rates of the parts of the measurement, in 10^9 bits per second
    public static Result bandwidth(
            BenchTest test, long bytes, long iterations, long nanos, long cpuNanos, double copyGbps, Spread spread) {
        double gbps = 8.0 * bytes * iterations / nanos;
        Result result = new Result(test, bytes, iterations, null)
                .put(Column.BANDWIDTH, gbps)
                .put(Column.MESSAGE_RATE, 1000.0 * iterations / nanos)
                .put(Column.CPU_TIME, cpuNanos / 1000.0 / (bytes * (double) iterations / 1e9))
                .put(Column.LOW_BANDWIDTH, spread.low())
                .put(Column.HIGH_BANDWIDTH, spread.high());
        if (copyGbps > 0) {
            result.put(Column.COPY, copyGbps).put(Column.RATIO, gbps / copyGbps);
            result.doubt(gbps / copyGbps > 1 + TOLERANCE, Column.RATIO);
        }
        return result;
    }

    /// This result as one of a comparison of modes.
    ///
    /// @param busy the CPU time during the operations
    /// @param idle the CPU time while both sides waited and nothing happened
    public Result in(Modes modes, StepUse busy, StepUse idle) {
        return put(Column.WORK_MODE, ChoiceText.of(modes.work()))
                .put(Column.THREAD_MODE, ChoiceText.of(modes.thread()))
                .put(Column.BUSY_CLIENT, busy.client().percent())
                .put(Column.BUSY_SERVER, busy.server().percent())
                .put(Column.IDLE_CLIENT, idle.client().percent())
                .put(Column.IDLE_SERVER, idle.server().percent());
    }

    /// This result with the losses of a transport that can lose messages.
    public Result over(TransportService service, Losses losses) {
        return put(Column.TRANSPORT, service.label())
                .put(Column.SENT, losses.sent())
                .put(Column.RECEIVED, losses.received())
                .put(Column.LOST, losses.lost());
    }

    private Result put(Column column, Object value) {
        values.put(column, value);
        return this;
    }

    private void doubt(boolean doubtful, Column column) {
        if (doubtful) {
            uncertain.add(column);
        }
    }

    /// The test.
    public BenchTest test() {
        return test;
    }

    /// The message size.
    public long bytes() {
        return bytes;
    }

    /// The time of every operation or group; null if only the total was measured.
    public @Nullable LatencySamples samples() {
        return samples;
    }

    /// Whether it has a value in this column.
    public boolean has(Column column) {
        return values.containsKey(column);
    }

    /// The value in a column; null if it has none.
    public @Nullable Object value(Column column) {
        return values.get(column);
    }

    /// Whether the value in a column means little, because too few samples were slower, or because it is beyond the
    /// limit of the machine, which was slower when the limit was measured.
    public boolean isUncertain(Column column) {
        return uncertain.contains(column);
    }

    /// The members of the JSON object.
    public Map<String, Object> toMap() {
        Map<String, Object> members = new LinkedHashMap<>();
        values.forEach((column, value) -> members.put(column.member(), column.rounded(value)));
        if (samples != null) {
            members.put("distribution", samples.distribution());
        }
        if (!uncertain.isEmpty()) {
            members.put("uncertain", uncertain.stream().map(Column::member).toList());
        }
        return members;
    }

    /// The lowest and the highest figure of the parts of one measurement, which show how much it varies within a
    /// run.
    ///
    /// @param low the lowest
    /// @param high the highest
    public record Spread(double low, double high) {
        /// The spread of no parts.
        public static final Spread NONE = new Spread(Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY);

        /// This spread with one more part.
        public Spread with(double figure) {
            return new Spread(Math.min(low, figure), Math.max(high, figure));
        }
    }

    /// The messages of a measurement over a transport that can lose messages.
    ///
    /// @param sent messages sent by both sides
    /// @param received messages received by both sides
    record Losses(long sent, long received) {
        /// No messages.
        static final Losses NONE = new Losses(0, 0);

        /// The messages of both measurements.
        Losses plus(Losses other) {
            return new Losses(sent + other.sent, received + other.received);
        }

        long lost() {
            return sent - received;
        }
    }
}
