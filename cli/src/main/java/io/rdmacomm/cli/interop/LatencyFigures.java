package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.Rounding;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/// Latencies in microseconds. One sample is the time between the starts of two operations, halved if it is a round
/// trip. As in perftest, `max` ignores the largest sample, and the other figures ignore the two largest.
///
/// @param bytes the message size
/// @param iterations the number of operations
/// @param min the smallest sample
/// @param max the second largest sample
/// @param typical the median
/// @param average the mean
/// @param deviation the standard deviation; perftest reports it in whole microseconds
/// @param percentile99 99 percent of the samples are smaller
/// @param percentile999 99.9 percent of the samples are smaller
record LatencyFigures(
        long bytes,
        long iterations,
        double min,
        double max,
        double typical,
        double average,
        double deviation,
        double percentile99,
        double percentile999)
        implements PerftestFigures {
    private static final int TAIL = 2;
    private static final String HEADING =
            "  #bytes  #iterations  t_min[usec]  t_max[usec]  t_typical[usec]  t_avg[usec]"
                    + "  t_stdev[usec]  99% percentile[usec]  99.9% percentile[usec]\n";

    /// Evaluates the times at which the operations began.
    ///
    /// @param begun in nanoseconds, at least 5
    /// @param hops the number of messages in one sample
    static LatencyFigures of(long bytes, long[] begun, int hops) {
        double[] micros = new double[begun.length - 1];
        for (int i = 0; i < micros.length; i++) {
            micros[i] = (begun[i + 1] - begun[i]) / 1000.0 / hops;
        }
        Arrays.sort(micros);
        int count = micros.length - TAIL;
        double average = Arrays.stream(micros, 0, count).average().orElseThrow();
        double variance = Arrays.stream(micros, 0, count)
                .map(sample -> (sample - average) * (sample - average))
                .average()
                .orElseThrow();
        return new LatencyFigures(
                bytes,
                begun.length,
                micros[0],
                micros[count],
                (micros[(count - 1) / 2] + micros[count / 2]) / 2,
                average,
                Math.sqrt(variance),
                micros[(int) Math.ceil(count * 0.99)],
                micros[(int) Math.ceil(count * 0.999)]);
    }

    @Override
    public String text() {
        return HEADING
                + String.format(
                        Locale.ROOT,
                        "%8d %12d %12.2f %12.2f %16.2f %12.2f %14.2f %21.2f %23.2f",
                        toMap().values().toArray());
    }

    @Override
    public Map<String, Object> toMap() {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("MsgSize", bytes);
        members.put("n_iterations", iterations);
        members.put("t_min", Rounding.to(min, 4));
        members.put("t_max", Rounding.to(max, 4));
        members.put("t_typical", Rounding.to(typical, 4));
        members.put("t_avg", Rounding.to(average, 4));
        members.put("t_stdev", Rounding.to(deviation, 4));
        members.put("percentile_99", Rounding.to(percentile99, 4));
        members.put("percentile_99.9", Rounding.to(percentile999, 4));
        return members;
    }
}
