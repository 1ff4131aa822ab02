package io.rdmacomm.cli.doctor;

import io.rdmacomm.cli.bench.BenchListener;
import io.rdmacomm.cli.bench.BenchReport;
import io.rdmacomm.cli.bench.Benchmark;
import io.rdmacomm.cli.bench.trial.BenchSettings;
import io.rdmacomm.cli.bench.trial.BenchTest;
import io.rdmacomm.cli.bench.trial.MachineFloors;
import io.rdmacomm.cli.bench.trial.Result;
import io.rdmacomm.cli.bench.trial.TransportService;
import io.rdmacomm.cli.bench.trial.TrialPlan;
import io.rdmacomm.cli.command.ByteSize;
import io.rdmacomm.comm.SessionOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/// A short benchmark that verifies the data. Shows that data keeps flowing, and how fast.
final class BenchCheck implements Check {
    private static final List<BenchTest> TESTS =
            List.of(BenchTest.SEND_LAT, BenchTest.WRITE_LAT, BenchTest.READ_LAT, BenchTest.WRITE_BW, BenchTest.READ_BW);
    private static final List<Long> SIZES = List.of(8L, 1L << 16);
    private static final int DEPTH = 64;
    private static final long MEASURED = Duration.ofMillis(100).toNanos();
    private static final long FIRST_WARM_UP = Duration.ofMillis(50).toNanos();
    private static final long WARM_UP = Duration.ofMillis(20).toNanos();

    private final SessionOptions options;

    /// @param options where the server is, and how to connect
    BenchCheck(SessionOptions options) {
        this.options = options;
    }

    @Override
    public String name() {
        return "bench";
    }

    @Override
    public Verdict run(CheckSetup setup) throws IOException {
        BenchSettings settings = new BenchSettings(
                TESTS,
                SIZES,
                0,
                MEASURED,
                FIRST_WARM_UP,
                WARM_UP,
                DEPTH,
                1,
                0,
                false,
                false,
                true,
                List.of(),
                TransportService.RC);
        BenchReport report = new Benchmark(options, settings, new Silence()).run();
        return Verdict.ok(report.results().stream().map(BenchCheck::text).collect(Collectors.joining(", ")));
    }

    private static String text(Result result) {
        Map<String, Object> members = result.toMap();
        String figure = result.test().kind() == BenchTest.Kind.LATENCY
                ? members.get("p50_us") + " us"
                : members.get("gbps") + " Gbit/s";
        return result.test().label() + " " + ByteSize.format(result.bytes()) + " " + figure;
    }

    /// Ignores the progress.
    private static final class Silence implements BenchListener {
        @Override
        public void onFloors(MachineFloors floors) {
            // Not measured.
        }

        @Override
        public void onStart(int number, int count, TrialPlan plan) {
            // Only the results count.
        }

        @Override
        public void onResult(Result result) {
            // The report has it.
        }
    }
}
