package io.rdmacomm.cli.interop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.junit.jupiter.api.Test;

/// The figures against the definitions of perftest.
class PerftestFiguresTest {
    /// Samples of 1 to 12 us, the slowest in the middle.
    private static final long[] BEGUN = begun(3, 1, 2, 4, 12, 5, 6, 11, 10, 7, 9, 8);

    private static long[] begun(int... micros) {
        long[] begun = new long[micros.length + 1];
        for (int i = 0; i < micros.length; i++) {
            begun[i + 1] = begun[i] + 1000L * micros[i];
        }
        return begun;
    }

    @Test
    void theTwoSlowestSamplesCountOnlyForTheMaximum() {
        LatencyFigures figures = LatencyFigures.of(8, BEGUN, 1);

        assertThat(figures.iterations()).isEqualTo(13);
        assertThat(figures.min()).isEqualTo(1);
        assertThat(figures.max()).isEqualTo(11);
        assertThat(figures.typical()).isEqualTo(5.5);
        assertThat(figures.average()).isEqualTo(5.5);
        assertThat(figures.deviation()).isCloseTo(2.872, within(0.001));
        assertThat(figures.percentile99()).isEqualTo(11);
        assertThat(figures.percentile999()).isEqualTo(11);
    }

    @Test
    void aRoundTripIsHalved() {
        LatencyFigures figures = LatencyFigures.of(8, BEGUN, 2);

        assertThat(figures.min()).isEqualTo(0.5);
        assertThat(figures.average()).isEqualTo(2.75);
    }

    @Test
    void fiveOperationsAreEnough() {
        LatencyFigures figures = LatencyFigures.of(8, begun(4, 1, 3, 2), 1);

        assertThat(figures.typical()).isEqualTo(1.5);
        assertThat(figures.max()).isEqualTo(3);
    }

    @Test
    void theNamesAreThoseOfPerftest() {
        assertThat(LatencyFigures.of(8, BEGUN, 1).toMap())
                .containsOnlyKeys(
                        "MsgSize",
                        "n_iterations",
                        "t_min",
                        "t_max",
                        "t_typical",
                        "t_avg",
                        "t_stdev",
                        "percentile_99",
                        "percentile_99.9")
                .containsEntry("t_typical", 5.5);
        assertThat(BandwidthFigures.of(1 << 20, 10, 10_000_000).toMap())
                .containsOnlyKeys("MsgSize", "n_iterations", "BW_peak", "BW_average", "MsgRate")
                .containsEntry("BW_peak", 0.0)
                .containsEntry("BW_average", 1000.0)
                .containsEntry("MsgRate", 0.001);
    }

    @Test
    void theTableHasAColumnForEachFigure() {
        assertThat(LatencyFigures.of(8, BEGUN, 2).text().lines().map(String::strip))
                .first()
                .asString()
                .startsWith("#bytes")
                .contains("t_typical[usec]");
        assertThat(LatencyFigures.of(8, BEGUN, 2)
                        .text()
                        .lines()
                        .toList()
                        .getLast()
                        .strip()
                        .split(" +"))
                .containsExactly("8", "13", "0.50", "5.50", "2.75", "2.75", "1.44", "5.50", "5.50");
        assertThat(BandwidthFigures.of(1 << 20, 10, 10_000_000)
                        .text()
                        .lines()
                        .toList()
                        .getLast()
                        .strip()
                        .split(" +"))
                .containsExactly("1048576", "10", "0.00", "1000.00", "0.001000");
    }

    @Test
    void thePeakIsThatOfTheBestStretch() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 200; round++) {
            int count = 5 + random.nextInt(60);
            long[] begun = new long[count];
            long[] ended = new long[count];
            long now = -random.nextInt(1000);
            for (int i = 0; i < count; i++) {
                now += random.nextInt(5000);
                begun[i] = now;
                ended[i] = Math.max(i == 0 ? 0 : ended[i - 1], now + 1 + random.nextInt(20_000));
            }

            BandwidthFigures figures = BandwidthFigures.of(1 << 20, begun, ended);

            assertThat(figures.peak()).as("seed %d, round %d", seed, round).isCloseTo(peak(begun, ended), within(1e-6));
            assertThat(figures.average())
                    .isCloseTo(count * 1e9 / (ended[count - 1] - begun[0]), within(1e-6))
                    .isLessThanOrEqualTo(figures.peak() + 1e-6);
        }
    }

    /// Messages of 1 MiB per second, by the two loops of perftest.
    private static double peak(long[] begun, long[] ended) {
        double fewest = Double.POSITIVE_INFINITY;
        for (int i = 0; i < begun.length; i++) {
            for (int j = i; j < ended.length; j++) {
                fewest = Math.min(fewest, Math.max(1, ended[j] - begun[i]) / (double) (j - i + 1));
            }
        }
        return 1e9 / fewest;
    }

    @Test
    void figuresThatCannotBeRealAreRecognized() {
        assertThat(new BandwidthFigures(1, 1, 0, 1, 1).isPlausible()).isTrue();
        assertThat(BandwidthFigures.NONE.isPlausible()).isFalse();
        assertThat(new BandwidthFigures(1, 1, Double.NaN, 1, 1).isPlausible()).isFalse();
        assertThat(new BandwidthFigures(1, 1, 0, -1, 1).isPlausible()).isFalse();
        assertThat(new BandwidthFigures(1, 1, 0, 1, Double.POSITIVE_INFINITY).isPlausible())
                .isFalse();
    }
}
