package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.bench.trial.LatencySamples;
import io.rdmacomm.cli.bench.trial.Result;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;

/// The file of `bench --histograms`: a log that the tools of HdrHistogram read and draw.
final class HistogramFile {
    private static final double NANOS_PER_MICRO = 1000;

    private HistogramFile() {}

    /// Writes one line for each latency test and size, with the tag TEST/BYTES.
    static void write(Path file, List<Result> results) throws IOException {
        try (PrintStream stream = new PrintStream(Files.newOutputStream(file), false, StandardCharsets.UTF_8)) {
            HistogramLogWriter writer = new HistogramLogWriter(stream);
            writer.outputComment("rdmacomm bench: samples in nanoseconds; of tests that report half of a round trip,"
                    + " whole round trips. Maxima in microseconds.");
            writer.outputLogFormatVersion();
            writer.outputLegend();
            for (Result result : results) {
                LatencySamples samples = result.samples();
                if (samples != null) {
                    Histogram histogram = samples.histogram();
                    histogram.setTag(result.test().label() + "/" + result.bytes());
                    writer.outputIntervalHistogram(0, 0, histogram, NANOS_PER_MICRO);
                }
            }
            if (stream.checkError()) {
                throw new IOException(file + ": cannot be written completely: is the file system full?");
            }
        }
    }
}
