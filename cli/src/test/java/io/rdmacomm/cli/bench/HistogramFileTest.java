package io.rdmacomm.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.cli.bench.trial.BenchTest;
import io.rdmacomm.cli.bench.trial.LatencySamples;
import io.rdmacomm.cli.bench.trial.Result;
import io.rdmacomm.cli.bench.trial.Result.Spread;
import java.nio.file.Path;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HistogramFileTest {
    @Test
    void eachLatencyTestIsALineWithATag(@TempDir Path folder) throws Exception {
        LatencySamples samples = new LatencySamples(2, 1);
        samples.add(new long[] {0, 1000, 3000, 6000}, 3);
        Path file = folder.resolve("samples.hlog");

        HistogramFile.write(
                file,
                List.of(
                        Result.mean(BenchTest.WRITE_LAT, 8, 1000, 400_000, 0, 0, Spread.NONE),
                        Result.latency(BenchTest.SEND_LAT, 64, samples, 0, 0, Spread.NONE)));

        try (HistogramLogReader reader = new HistogramLogReader(file.toFile())) {
            Histogram histogram = (Histogram) reader.nextIntervalHistogram();
            assertThat(histogram.getTag()).isEqualTo("send_lat/64");
            assertThat(histogram.getTotalCount()).isEqualTo(3);
            assertThat(histogram.getValueAtPercentile(50)).isBetween(2000L, 2001L);
            assertThat(reader.hasNext()).isFalse();
        }
    }
}
