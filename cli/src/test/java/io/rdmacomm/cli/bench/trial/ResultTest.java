package io.rdmacomm.cli.bench.trial;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.cli.bench.Table;
import io.rdmacomm.cli.command.Rounding;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;

class ResultTest {
    private static Result latency(double floor) {
        LatencySamples samples = new LatencySamples(2, 1);
        samples.add(new long[] {0, 2000, 4000, 8000}, 3);
        return Result.latency(BenchTest.WRITE_LAT, 8, samples, floor, 1 - floor, new Result.Spread(0.9, 1.1));
    }

    private static Result bandwidth(double copyGbps) {
        return Result.bandwidth(
                BenchTest.READ_BW, 65_536, 1000, 5_000_000, 10_000_000, copyGbps, new Result.Spread(100, 110));
    }

    @Test
    void latenciesAreHalfARoundTrip() {
        assertThat(latency(0.5).toMap())
                .containsEntry("test", "write_lat")
                .containsEntry("iterations", 3L)
                .containsEntry("min_us", 1.0)
                .containsEntry("p50_us", 1.0)
                .containsEntry("max_us", 2.0)
                .containsEntry("low_us", 0.9)
                .containsEntry("high_us", 1.1)
                .containsEntry("floor_us", 0.5)
                .containsEntry("above_floor_us", 0.5)
                .containsEntry("ratio", 2.0);
    }

    @Test
    void operationsOfAGroupShareItsTime() {
        LatencySamples samples = new LatencySamples(2, 64);
        samples.add(new long[] {0, 12_800, 25_600}, 2);

        assertThat(Result.latency(BenchTest.WRITE_LAT, 8, samples, 0, 0, Result.Spread.NONE)
                        .toMap())
                .containsEntry("iterations", 128L)
                .containsEntry("operations_per_sample", 64)
                .containsEntry("p50_us", 0.1);
    }

    @Test
    void aMeanNeedsNoSamples() {
        Result mean = Result.mean(
                BenchTest.SEND_LAT,
                8,
                1000,
                400_000,
                0.1,
                0.1,
                Result.Spread.NONE.with(0.3).with(0.1));

        assertThat(mean.toMap())
                .containsEntry("iterations", 1000L)
                .containsEntry("avg_us", 0.2)
                .containsEntry("low_us", 0.1)
                .containsEntry("high_us", 0.3)
                .containsEntry("ratio", 2.0)
                .doesNotContainKey("p50_us");
    }

    @Test
    void bandwidthsFollowFromTheTime() {
        assertThat(bandwidth(209.7152).toMap())
                .containsEntry("gbps", 104.858)
                .containsEntry("million_messages_per_second", 0.2)
                .containsEntry("cpu_us_per_gb", 152_587.9)
                .containsEntry("low_gbps", 100.0)
                .containsEntry("high_gbps", 110.0)
                .containsEntry("ratio", 0.5);
    }

    @Test
    void anUnknownLimitIsLeftOut() {
        assertThat(latency(0).toMap()).doesNotContainKeys("floor_us", "ratio");
        assertThat(bandwidth(0).toMap()).doesNotContainKeys("copy_gbps", "ratio");
    }

    @Test
    void theTableHasAHeaderForEachKindOfTestAndAlignedColumns() {
        StringWriter text = new StringWriter();
        Table table = new Table(new PrintWriter(text), true);

        table.add(latency(0.5));
        table.add(Result.mean(BenchTest.WRITE_LAT, 8, 1000, 400_000, 0, 0, Result.Spread.NONE));
        table.add(bandwidth(0));

        List<String> lines =
                text.toString().lines().filter(line -> !line.isEmpty()).toList();
        assertThat(lines).hasSize(5);
        assertThat(lines.get(0))
                .startsWith("latency [us]")
                .endsWith("floor    above  ratio")
                .hasSameSizeAs(lines.get(1));
        assertThat(lines.get(1))
                .startsWith("write_lat")
                .endsWith("0.500    0.500   2.0x")
                .hasSameSizeAs(lines.get(2));
        assertThat(lines.get(2)).endsWith("-        -      -");
        assertThat(lines.get(3)).startsWith("bandwidth").hasSameSizeAs(lines.get(4));
        assertThat(lines.get(4)).startsWith("read_bw").contains("64 KiB", "104.858");
    }

    @Test
    void limitsThatAreNotMeasuredHaveNoColumns() {
        StringWriter text = new StringWriter();
        Table table = new Table(new PrintWriter(text), false);

        table.add(latency(0));
        table.add(bandwidth(0));

        assertThat(text.toString()).contains("stdev", "CPU us/GB").doesNotContain("floor", "ratio", "copy", " -");
    }

    @Test
    void slowRatesKeepTheirSignificantDigits() {
        assertThat(Rounding.rate(123.45678, 3)).isEqualTo(123.457);
        assertThat(Rounding.rate(0.000012345, 3)).isEqualTo(0.0000123);
        assertThat(Rounding.to(2.5, 0)).isEqualTo(2);
    }
}
