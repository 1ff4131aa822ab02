package io.rdmacomm.cli;

import io.rdmacomm.cli.bench.BenchReport;
import io.rdmacomm.cli.bench.BenchServer;
import io.rdmacomm.cli.bench.BenchSettings;
import io.rdmacomm.cli.bench.BenchTest;
import io.rdmacomm.cli.bench.Benchmark;
import io.rdmacomm.cli.bench.ChildServer;
import io.rdmacomm.cli.bench.CsvFile;
import io.rdmacomm.cli.terminal.ByteSize;
import io.rdmacomm.cli.terminal.CloseOnExit;
import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.comm.CommException;
import io.rdmacomm.comm.Deadlines;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `rdmacomm bench`: latency and bandwidth of all operations.
@Command(
        name = "bench",
        description = {
            "Measure latency and bandwidth.",
            "",
            "Without HOST and --server, both sides run on this machine, in two processes.",
            "Tests: send_lat write_lat read_lat atomic_lat send_bw write_bw write_bw_ring read_bw.",
            "The latency of send and write is half a round trip; that of read and atomic is a full one."
        },
        footer = {
            "",
            "Examples:",
            "  rdmacomm bench                                       everything, briefly, on this machine",
            "  rdmacomm bench --all --json out.json                 every size from 1 byte to 8 MiB",
            "  rdmacomm bench --tests write_lat --sizes 8,4k        one test",
            "  rdmacomm bench --device siw0 --bind 10.8.0.1         a device that only its own address reaches",
            "  rdmacomm bench --server                              on one machine, and on another:",
            "  rdmacomm bench node7 --tests write_bw --duration 5"
        })
final class BenchCommand extends Subcommand {
    private static final String DEFAULT_SIZES = "8,65536,1048576";
    private static final long MAX_BYTES = 1L << 30;
    private static final int LARGEST_SHIFT = 23;
    // A server in its first second on a slow machine is busy, not silent.
    private static final Duration HANDSHAKE = Duration.ofSeconds(30);

    @Mixin
    private final PeerOptions peer = new PeerOptions();

    @Option(names = "--until-eof", hidden = true, description = "With --server: exit at the end of standard input.")
    private boolean untilEof;

    @Option(names = "--tests", split = ",", paramLabel = "TEST", description = "The tests to run (default: all).")
    private List<String> tests = new ArrayList<>();

    @Option(
            names = {"-s", "--sizes"},
            split = ",",
            paramLabel = "SIZE",
            converter = ByteSize.class,
            defaultValue = DEFAULT_SIZES,
            description = "Message sizes, for example 8,4k,1M (default: ${DEFAULT-VALUE}).")
    private List<Long> sizes = new ArrayList<>();

    @Option(
            names = {"-a", "--all"},
            description = "All sizes that are powers of two, from 1 byte to 8 MiB.")
    private boolean all;

    @Option(
            names = {"-n", "--iterations"},
            paramLabel = "N",
            description = "Operations per test and size, instead of a duration.")
    private long iterations;

    @Option(
            names = {"-D", "--duration"},
            paramLabel = "SECONDS",
            defaultValue = "0.25",
            description = "How long to measure each test and size (default: ${DEFAULT-VALUE}).")
    private double duration;

    @Option(
            names = "--warmup",
            paramLabel = "SECONDS",
            defaultValue = "0.6",
            description =
                    "Minimum warm-up of the first size of each test; other sizes take a quarter of it. The warm-up"
                            + " goes on while the JIT compilers of both sides are busy, for up to ten times as long (default:"
                            + " ${DEFAULT-VALUE}).")
    private double warmUp;

    @Option(
            names = "--depth",
            paramLabel = "N",
            defaultValue = "128",
            description = "Operations in flight on each queue pair (default: ${DEFAULT-VALUE}).")
    private int depth;

    @Option(
            names = {"-q", "--qps"},
            paramLabel = "N",
            defaultValue = "1",
            description = "Queue pairs that carry the traffic of bandwidth tests (default: ${DEFAULT-VALUE}).")
    private int queuePairs;

    @Option(
            names = "--idle-qps",
            paramLabel = "N",
            defaultValue = "0",
            description = "Additional idle queue pairs on the same completion queue, to measure what they cost.")
    private int idleQueuePairs;

    @Option(
            names = {"-b", "--bidirectional"},
            description = "Both sides send at the same time in bandwidth tests.")
    private boolean bidirectional;

    @Option(names = "--no-floors", description = "Do not measure the limits of the machine itself.")
    private boolean noFloors;

    @Option(names = "--csv", paramLabel = "FILE", description = "Write the results to FILE as comma-separated values.")
    private @Nullable Path csv;

    @Mixin
    private final JsonOption json = new JsonOption();

    @Mixin
    private final ListenOptions listen = new ListenOptions();

    @Mixin
    private final DeviceOptions device = new DeviceOptions();

    @Override
    public Integer call() throws IOException {
        peer.check(json);
        // Only the two sides themselves drive the work: on two processors a third thread would get in the way.
        SessionOptions options = device.apply(SessionOptions.defaults()
                .withThreadMode(ThreadMode.CALLER)
                .withWorkMode(WorkMode.ADAPTIVE)
                .withDeadlines(Deadlines.defaults().withHandshake(HANDSHAKE)));
        PeerAddress address = peer.address();
        if (peer.isServer()) {
            serve(options);
        } else if (address != null) {
            measure(settings(), options.withAddress(address.host(), address.port()));
        } else {
            measureLocally(settings(), options);
        }
        return 0;
    }

    /// Measures between this process and a second one.
    private void measureLocally(BenchSettings settings, SessionOptions options) throws IOException {
        try (ChildServer child = ChildServer.start(RdmaCommand.class.getName(), childArguments())) {
            try {
                measure(settings, options.withAddress(localAddress(), child.port()));
            } catch (CommException | CommandFailure e) {
                throw child.explain(e);
            }
        }
    }

    private List<String> childArguments() {
        List<String> arguments =
                new ArrayList<>(List.of("bench", "--server", "--until-eof", "--bind", localAddress(), "--port", "0"));
        arguments.addAll(device.arguments());
        return arguments;
    }

    /// Where both sides meet on this machine. A device with only a connection manager needs its own address.
    private String localAddress() {
        return listen.bind().isEmpty() ? "127.0.0.1" : listen.bind();
    }

    private void serve(SessionOptions options) {
        try (BenchServer server = new BenchServer(options.withAddress(listen.bind(), listen.port()), output());
                CloseOnExit _ = new CloseOnExit(server::close)) {
            output().println(ChildServer.READY + server.port());
            if (untilEof) {
                InputWatch.onEnd(server::close);
            }
            server.run(peer.isOnce());
        }
    }

    private void measure(BenchSettings settings, SessionOptions options) throws IOException {
        json.check();
        BenchReport report;
        try (BenchOutput progress = new BenchOutput(output(), json.ownsStandardOutput())) {
            report = new Benchmark(options, settings, progress).run();
            progress.end(report);
        }
        if (csv != null) {
            CsvFile.write(csv, report.results());
        }
        json.write(report.provider(), report.device().device(), report.toMap(), output());
    }

    private BenchSettings settings() {
        if (iterations < 0 || !(duration > 0) || duration > 86_400 || !(warmUp >= 0) || warmUp > 3600) {
            throw usage("--iterations must not be negative, --duration must be above 0 and at most 86400 seconds, and"
                    + " --warmup 0 to 3600 seconds");
        }
        if (depth < 1 || depth > 16_384 || queuePairs < 1 || idleQueuePairs < 0 || queuePairs + idleQueuePairs > 256) {
            throw usage("--depth can be 1 to 16384, --qps and --idle-qps together 1 to 256");
        }
        List<Long> wanted = all ? powersOfTwo() : sizes;
        for (long size : wanted) {
            if (size < 1 || size > MAX_BYTES) {
                throw usage("size " + size + " is out of range: sizes can be 1 to 1g");
            }
        }
        return new BenchSettings(
                tests(),
                wanted,
                iterations,
                (long) (duration * 1e9),
                (long) (warmUp * 1e9),
                (long) (warmUp * 1e9 / 4),
                depth,
                queuePairs,
                idleQueuePairs,
                bidirectional,
                !noFloors);
    }

    private List<BenchTest> tests() {
        if (tests.isEmpty()) {
            return List.of(BenchTest.values());
        }
        try {
            return tests.stream().map(BenchTest::named).toList();
        } catch (IllegalArgumentException e) {
            throw usage(String.valueOf(e.getMessage()));
        }
    }

    private static List<Long> powersOfTwo() {
        return IntStream.rangeClosed(0, LARGEST_SHIFT)
                .mapToObj(shift -> 1L << shift)
                .toList();
    }
}
