package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.Rounding;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/// Throughput. perftest writes "MB" for 2^20 bytes.
///
/// @param bytes the message size
/// @param iterations the number of messages
/// @param peak MiB per second in the best stretch from the start of an operation to the completion of the
///     same or a later one; 0 if the times are unknown
/// @param average MiB per second from the first start to the last completion
/// @param millionMessagesPerSecond messages over the same time, in millions per second
record BandwidthFigures(long bytes, long iterations, double peak, double average, double millionMessagesPerSecond)
        implements PerftestFigures {
    private static final double MEBI = 1 << 20;
    private static final String HEADING =
            "  #bytes  #iterations  BW peak[MiB/sec]  BW average[MiB/sec]  MsgRate[Mpps]\n";

    /// The figures that a server sends to a client: it has none.
    static final BandwidthFigures NONE = new BandwidthFigures(0, 0, 0, 0, 0);

    /// Evaluates the times at which the operations began and ended.
    ///
    /// @param begun in nanoseconds, in order
    /// @param ended in nanoseconds, in order, as many as in `begun`
    static BandwidthFigures of(long bytes, long[] begun, long[] ended) {
        return of(bytes, begun.length, ended[ended.length - 1] - begun[0], fewestNanos(begun, ended));
    }

    /// Evaluates the total time of all operations.
    static BandwidthFigures of(long bytes, long iterations, long nanos) {
        return of(bytes, iterations, nanos, Double.POSITIVE_INFINITY);
    }

    private static BandwidthFigures of(long bytes, long iterations, long nanos, double fewest) {
        double each = Math.max(1, nanos) / (double) iterations;
        return new BandwidthFigures(
                bytes, iterations, bytes * 1e9 / MEBI / fewest, bytes * 1e9 / MEBI / each, 1e3 / each);
    }

    /// The least time per operation in any stretch. Begins with the average of all operations. While some stretch
    /// has a lower average, continues with the one that saves the most time. That takes few rounds.
    private static double fewestNanos(long[] begun, long[] ended) {
        long origin = begun[0];
        double fewest = Double.POSITIVE_INFINITY;
        double next = Math.max(1, ended[ended.length - 1] - origin) / (double) begun.length;
        while (next < fewest) {
            fewest = next;
            double saved = 0;
            int first = 0;
            for (int last = 0; last < ended.length; last++) {
                // The start so far whose stretch takes the least time, compared with the average.
                if (begun[last] - origin - fewest * last > begun[first] - origin - fewest * first) {
                    first = last;
                }
                int count = last - first + 1;
                long nanos = Math.max(1, ended[last] - begun[first]);
                if (fewest * count - nanos > saved) {
                    saved = fewest * count - nanos;
                    next = nanos / (double) count;
                }
            }
        }
        return fewest;
    }

    /// Whether figures from a peer can be real.
    boolean isPlausible() {
        return bytes > 0 && iterations > 0 && isRate(peak) && isRate(average) && isRate(millionMessagesPerSecond);
    }

    private static boolean isRate(double value) {
        return value >= 0 && value < 1e9;
    }

    @Override
    public String text() {
        return HEADING
                + String.format(
                        Locale.ROOT,
                        "%8d %12d %17.2f %20.2f %14.6f",
                        toMap().values().toArray());
    }

    @Override
    public Map<String, Object> toMap() {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("MsgSize", bytes);
        members.put("n_iterations", iterations);
        members.put("BW_peak", Rounding.rate(peak, 4));
        members.put("BW_average", Rounding.rate(average, 4));
        members.put("MsgRate", Rounding.rate(millionMessagesPerSecond, 6));
        return members;
    }
}
