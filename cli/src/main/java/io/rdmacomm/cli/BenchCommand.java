package io.rdmacomm.cli;

import io.rdmacomm.cli.bench.BenchReport;
import io.rdmacomm.cli.bench.BenchServer;
import io.rdmacomm.cli.bench.BenchSettings;
import io.rdmacomm.cli.bench.BenchTest;
import io.rdmacomm.cli.bench.Benchmark;
import io.rdmacomm.cli.bench.ChildServer;
import io.rdmacomm.cli.bench.CsvFile;
import io.rdmacomm.cli.terminal.ByteSize;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/// `rdmacomm bench`: latency and bandwidth of all operations.
@Command(
        name = "bench",
        description = {
            "Measure latency and bandwidth.",
            "",
            "Without HOST and --server both ends run on this machine, in two processes.",
            "Tests: send_lat write_lat read_lat atomic_lat send_bw write_bw write_bw_ring read_bw.",
            "Latency of send and write is half a round trip, of read and atomic the whole."
        },
        footer = {
            "",
            "Examples:",
            "  rdmacomm bench                                       everything, briefly, on this machine",
            "  rdmacomm bench --all --json out.json                 every size from 1 byte to 8 MiB",
            "  rdmacomm bench --tests write_lat --sizes 8,4k        one test",
            "  rdmacomm bench --device siw0 --bind 10.8.0.1         on a device that is reached by its own address only",
            "  rdmacomm bench --server                              on one machine, and on another one:",
            "  rdmacomm bench node7 --tests write_bw --duration 5"
        })
final class BenchCommand extends Subcommand {
    private static final String DEFAULT_SIZES = "8,65536,1048576";
    private static final int LARGEST_SHIFT = 23;
    // A server in its first second on a slow machine is busy, not silent.
    private static final Duration HAND_SHAKE = Duration.ofSeconds(30);

    @Mixin
    private final ListenOptions listen = new ListenOptions();

    @Mixin
    private final DeviceOptions device = new DeviceOptions();

    @Mixin
    private final JsonOption json = new JsonOption();

    @Parameters(
            arity = "0..1",
            paramLabel = "HOST[:PORT]",
            converter = PeerAddress.Converter.class,
            description = "Where `rdmacomm bench --server` runs.")
    private @Nullable PeerAddress peer;

    @Option(names = "--server", description = "Serve clients until Ctrl-C.")
    private boolean server;

    @Option(names = "--once", description = "With --server: serve one client, then end.")
    private boolean once;

    @Option(names = "--until-eof", hidden = true, description = "With --server: end when the standard input does.")
    private boolean untilEof;

    @Option(names = "--tests", split = ",", paramLabel = "TEST", description = "Which tests; all of them without it.")
    private List<String> tests = new ArrayList<>();

    @Option(
            names = {"-s", "--sizes"},
            split = ",",
            paramLabel = "SIZE",
            converter = ByteSize.class,
            defaultValue = DEFAULT_SIZES,
            description = "Sizes of a message, for example 8,4k,1M (default: ${DEFAULT-VALUE}).")
    private List<Long> sizes = new ArrayList<>();

    @Option(
            names = {"-a", "--all"},
            description = "All sizes from 1 byte to 8 MiB in powers of two.")
    private boolean all;

    @Option(
            names = {"-n", "--iterations"},
            paramLabel = "N",
            description = "Operations for each test and size, instead of a duration.")
    private long iterations;

    @Option(
            names = {"-D", "--duration"},
            paramLabel = "SECONDS",
            defaultValue = "0.25",
            description = "How long each test and size is measured (default: ${DEFAULT-VALUE}).")
    private double duration;

    @Option(
            names = "--warmup",
            paramLabel = "SECONDS",
            defaultValue = "0.6",
            description =
                    "How long the first size of each test warms up at least; the others take a quarter. While the"
                            + " compilers of both ends are busy it goes on, up to ten times as long (default: ${DEFAULT-VALUE}).")
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
            description = "Queue pairs that carry the bandwidth tests (default: ${DEFAULT-VALUE}).")
    private int queuePairs;

    @Option(
            names = "--idle-qps",
            paramLabel = "N",
            defaultValue = "0",
            description =
                    "Idle queue pairs beside them on the same completion queue, to see whether they cost anything.")
    private int idleQueuePairs;

    @Option(
            names = {"-b", "--bidirectional"},
            description = "Both sides send at the same time in bandwidth tests.")
    private boolean bidirectional;

    @Option(names = "--no-floors", description = "Do not measure what the machine itself can do.")
    private boolean noFloors;

    @Option(names = "--csv", paramLabel = "FILE", description = "Write the results as comma-separated values to FILE.")
    private @Nullable Path csv;

    @Override
    public Integer call() throws IOException {
        if (server) {
            if (peer != null) {
                throw usage("--server and HOST exclude each other");
            }
            return serve();
        }
        BenchSettings settings = settings();
        json.check();
        PeerAddress address = peer;
        if (address != null) {
            return measure(settings, address);
        }
        try (ChildServer child = ChildServer.start(RdmaCommand.class.getName(), childArguments())) {
            try {
                return measure(settings, new PeerAddress(hereAddress(), child.port()));
            } catch (CommException | CommandFailure e) {
                throw child.explain(e);
            }
        }
    }

    private List<String> childArguments() {
        List<String> arguments =
                new ArrayList<>(List.of("bench", "--server", "--until-eof", "--bind", hereAddress(), "--port", "0"));
        arguments.addAll(device.arguments());
        return arguments;
    }

    /// Where both ends meet on this machine: a device that has only a connection manager needs its own address.
    private String hereAddress() {
        return listen.bind().isEmpty() ? "127.0.0.1" : listen.bind();
    }

    private int serve() {
        SessionOptions options = common().withAddress(listen.bind(), listen.port());
        try (BenchServer benchServer = new BenchServer(options, err());
                CloseOnExit _ = new CloseOnExit(benchServer::close)) {
            out().println(ChildServer.READY + benchServer.port());
            out().flush();
            if (untilEof) {
                InputWatch.onEnd(benchServer::close);
            }
            benchServer.run(once);
        }
        return 0;
    }

    private int measure(BenchSettings settings, PeerAddress address) throws IOException {
        SessionOptions options = common().withAddress(address.host(), address.port());
        boolean quiet = json.ownsStandardOutput();
        BenchReport report;
        try (BenchOutput output = new BenchOutput(out(), err(), quiet)) {
            report = new Benchmark(options, settings, output).run();
            output.end(report);
        }
        if (csv != null) {
            CsvFile.write(csv, report.results());
        }
        if (json.requested()) {
            Map<String, Object> document = new LinkedHashMap<>();
            document.put("schema", 1);
            document.put(
                    "environment",
                    Environment.describe(report.provider(), report.device().device()));
            document.putAll(report.toMap());
            json.write(document, out());
        }
        return 0;
    }

    /// Nobody but the two ends themselves drives the work: on two processors a third thread would only be in
    /// the way.
    private SessionOptions common() {
        return device.apply(SessionOptions.defaults()
                .withThreadMode(ThreadMode.CALLER)
                .withWorkMode(WorkMode.ADAPTIVE)
                .withDeadlines(Deadlines.defaults().withHandshake(HAND_SHAKE)));
    }

    private BenchSettings settings() {
        if (iterations < 0 || !(duration > 0) || duration > 86_400 || !(warmUp >= 0) || warmUp > 3600) {
            throw usage("--iterations, --duration and --warmup must not be negative, and at most a day");
        }
        if (depth < 1 || depth > 16_384 || queuePairs < 1 || idleQueuePairs < 0 || queuePairs + idleQueuePairs > 256) {
            throw usage("--depth can be 1 to 16384, --qps and --idle-qps together 1 to 256");
        }
        List<Long> wanted = all ? allSizes() : sizes;
        for (long size : wanted) {
            if (size < 1 || size > 1L << 30) {
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

    private static List<Long> allSizes() {
        List<Long> powers = new ArrayList<>();
        for (int shift = 0; shift <= LARGEST_SHIFT; shift++) {
            powers.add(1L << shift);
        }
        return powers;
    }

    private ParameterException usage(String message) {
        return new ParameterException(spec().commandLine(), message);
    }
}
