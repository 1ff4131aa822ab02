package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.bench.result.BandwidthResult;
import io.rdmacomm.cli.bench.result.BenchTest;
import io.rdmacomm.cli.bench.result.LatencyResult;
import io.rdmacomm.cli.bench.result.LatencySamples;
import io.rdmacomm.cli.bench.result.MeanLatency;
import io.rdmacomm.cli.bench.result.ModeResult;
import io.rdmacomm.cli.bench.result.Result;
import io.rdmacomm.cli.bench.result.UnreliableResult;
import io.rdmacomm.cli.terminal.ByteSize;
import io.rdmacomm.cli.terminal.ChoiceText;
import java.io.PrintWriter;
import org.jspecify.annotations.Nullable;

/// Prints results for people as they arrive: a table of latencies and a table of bandwidths.
public final class Table {
    private static final String LATENCY = "%-18s %8s %10s %9s %9s %9s %9s %10s %9s %9s";
    private static final String LATENCY_FLOOR = " %8s %6s";
    private static final String BANDWIDTH = "%-18s %8s %10s %10s %12s %13s";
    private static final String BANDWIDTH_COPY = " %11s %6s";

    private static final String MODES = "%-20s %-15s %10s %10s %9s %7s %9s %7s%n";

    /// The meaning of a mark.
    public static final String EXPLANATION =
            "~: fewer than ten samples were slower; !: beyond the limit, which was measured while the machine was slower";

    private final PrintWriter out;
    private final String latencyFormat;
    private final String bandwidthFormat;
    private BenchTest.@Nullable Kind printed;
    private boolean marked;

    /// Prints to `out`.
    ///
    /// @param floors whether the limits of the machine have columns
    public Table(PrintWriter out, boolean floors) {
        this.out = out;
        latencyFormat = LATENCY + (floors ? LATENCY_FLOOR : "") + "%n";
        bandwidthFormat = BANDWIDTH + (floors ? BANDWIDTH_COPY : "") + "%n";
    }

    /// Prints the next result.
    public void add(Result result) {
        if (printed != result.test().kind()) {
            printed = result.test().kind();
            out.println();
            if (result instanceof ModeResult) {
                modesHeader();
            } else {
                header(printed);
            }
        }
        print(result);
        out.flush();
    }

    /// Whether any figure is marked as doubtful.
    public boolean isMarked() {
        return marked;
    }

    private String marked(boolean doubtful, String mark, String figure) {
        marked |= doubtful;
        return doubtful ? mark + figure : figure;
    }

    private void print(Result result) {
        switch (result) {
            case LatencyResult latency -> row(latency);
            case MeanLatency mean -> row(mean);
            case BandwidthResult bandwidth -> row(bandwidth);
            case ModeResult mode -> row(mode);
            case UnreliableResult unreliable -> {
                print(unreliable.measured());
                out.println("    over " + unreliable.service().label() + ": " + unreliable.losses());
            }
        }
    }

    private void header(BenchTest.Kind kind) {
        switch (kind) {
            case LATENCY ->
                out.printf(
                        latencyFormat,
                        "latency [us]",
                        "size",
                        "samples",
                        "min",
                        "p50",
                        "p99",
                        "p99.9",
                        "max",
                        "avg",
                        "stdev",
                        "floor",
                        "ratio");
            case BANDWIDTH ->
                out.printf(
                        bandwidthFormat,
                        "bandwidth",
                        "size",
                        "messages",
                        "Gbit/s",
                        "10^6 msg/s",
                        "CPU us/GB",
                        "copy Gbit/s",
                        "ratio");
        }
    }

    private void modesHeader() {
        out.printf(MODES, "", "", "round trip", "[us]", "busy CPU", "[%]", "idle CPU", "[%]");
        out.printf(MODES, "work mode", "thread mode", "p50", "p99", "client", "server", "client", "server");
    }

    private void row(ModeResult result) {
        LatencySamples samples = result.measured().samples();
        out.printf(
                MODES,
                ChoiceText.of(result.modes().work()),
                ChoiceText.of(result.modes().thread()),
                micros(samples.percentileMicros(50)),
                percentile(samples, 99),
                "%.1f".formatted(result.busy().client().percent()),
                "%.1f".formatted(result.busy().server().percent()),
                "%.2f".formatted(result.idle().client().percent()),
                "%.2f".formatted(result.idle().server().percent()));
    }

    private void row(LatencyResult result) {
        LatencySamples samples = result.samples();
        out.printf(
                latencyFormat,
                result.test().label(),
                ByteSize.format(result.bytes()),
                samples.count(),
                micros(samples.minMicros()),
                micros(samples.percentileMicros(50)),
                percentile(samples, 99),
                percentile(samples, 99.9),
                micros(samples.maxMicros()),
                micros(samples.averageMicros()),
                micros(samples.deviationMicros()),
                result.floor() > 0 ? micros(result.floor()) : "-",
                result.floor() > 0 ? marked(result.isBeyondTheFloor(), "!", "%.1fx".formatted(result.ratio())) : "-");
    }

    private String percentile(LatencySamples samples, double percentile) {
        return marked(samples.isUncertain(percentile), "~", micros(samples.percentileMicros(percentile)));
    }

    private void row(MeanLatency result) {
        out.printf(
                latencyFormat,
                result.test().label(),
                ByteSize.format(result.bytes()),
                result.iterations(),
                "-",
                "-",
                "-",
                "-",
                "-",
                micros(result.micros()),
                "-",
                result.floor() > 0 ? micros(result.floor()) : "-",
                result.floor() > 0 ? marked(result.isBeyondTheFloor(), "!", "%.1fx".formatted(result.ratio())) : "-");
    }

    private void row(BandwidthResult result) {
        out.printf(
                bandwidthFormat,
                result.test().label(),
                ByteSize.format(result.bytes()),
                result.iterations(),
                "%.3f".formatted(result.gbps()),
                "%.4f".formatted(result.millionMessagesPerSecond()),
                "%.0f".formatted(result.cpuMicrosPerGigabyte()),
                result.copyGbps() > 0 ? "%.1f".formatted(result.copyGbps()) : "-",
                result.copyGbps() > 0 ? marked(result.isBeyondTheCopy(), "!", "%.2f".formatted(result.ratio())) : "-");
    }

    /// Three decimal places below 100 us, one above.
    private static String micros(double value) {
        return value < 100 ? "%.3f".formatted(value) : "%.1f".formatted(value);
    }
}
