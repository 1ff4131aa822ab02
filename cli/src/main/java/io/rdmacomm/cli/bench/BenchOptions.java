package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.bench.trial.BenchSettings;
import io.rdmacomm.cli.bench.trial.BenchTest;
import io.rdmacomm.cli.bench.trial.Modes;
import io.rdmacomm.cli.bench.trial.TransportService;
import io.rdmacomm.cli.command.ByteSize;
import io.rdmacomm.cli.command.Excludes;
import io.rdmacomm.cli.command.Range;
import io.rdmacomm.cli.command.Ranges;
import io.rdmacomm.cli.interop.PerftestProgram;
import io.rdmacomm.cli.interop.PerftestSettings;
import io.rdmacomm.cli.mesh.CollectiveBenchOptions;
import io.rdmacomm.cli.mesh.CollectiveSettings;
import io.rdmacomm.cli.mesh.CollectiveTest;
import io.rdmacomm.verbs.ConnectionOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// The options of `rdmacomm bench` that choose the tests and how long they run.
final class BenchOptions {
    private static final String DEFAULT_SIZES = "8,65536,1048576";
    private static final double TEST_SECONDS = 0.25;
    private static final double MATRIX_SECONDS = 1.5;
    private static final int MOST_QUEUE_PAIRS = 256;
    private static final List<String> NOT_WITH_MATRIX = List.of(
            "--server",
            "--tests",
            "--sizes",
            "--all",
            "--depth",
            "--qps",
            "--idle-qps",
            "--bidirectional",
            "--no-samples",
            "--no-pin",
            "--work-mode",
            "--thread-mode");
    private static final int LARGEST_SHIFT = 23;
    private static final int LARGEST_DATAGRAM_SHIFT = 10;
    private static final List<Long> DATAGRAM_SIZES = List.of(8L, 1L << LARGEST_DATAGRAM_SHIFT);
    private static final List<Long> COLLECTIVE_SIZES = List.of(8L, 1L << 10, 1L << 16, 1L << 20, 1L << 24);
    private static final int SMALLEST_COLLECTIVE_SHIFT = 3;
    private static final int LARGEST_COLLECTIVE_SHIFT = 26;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--tests", split = ",", paramLabel = "TEST", description = "The tests to run (default: all).")
    private List<String> tests = new ArrayList<>();

    @Option(
            names = {"-s", "--sizes"},
            split = ",",
            paramLabel = "SIZE",
            converter = ByteSize.class,
            defaultValue = DEFAULT_SIZES,
            description = "Message sizes, for example 8,4k,1M (default: ${DEFAULT-VALUE}).")
    @Range(min = 1, max = 1 << 30)
    private List<Long> sizes = new ArrayList<>();

    @Option(
            names = {"-a", "--all"},
            description =
                    "All sizes that are powers of two, from 1 byte to 8 MiB; of datagrams, to 1 KiB; of collectives,"
                            + " from 8 bytes to 64 MiB.")
    private boolean all;

    @Option(
            names = {"-n", "--iterations"},
            paramLabel = "N",
            description = "Operations per test and size, instead of a duration.")
    @Range
    private long iterations;

    @Option(
            names = {"-D", "--duration"},
            paramLabel = "SECONDS",
            description = "How long to measure each test and size (default: 0.25; with --matrix 1.5, each mode busy and"
                    + " idle).")
    @Range(above = true, max = 86_400)
    private @Nullable Double duration;

    @Option(
            names = "--warmup",
            paramLabel = "SECONDS",
            defaultValue = "0.6",
            description =
                    "Minimum warm-up of the first size of each test; other sizes take a quarter of it. The warm-up"
                            + " continues while the JIT compilers of both sides are busy, for up to ten times as long"
                            + " (default: ${DEFAULT-VALUE}).")
    @Range(max = 3600)
    private double warmUp;

    @Option(
            names = "--depth",
            paramLabel = "N",
            defaultValue = "128",
            description = "Operations in flight on each queue pair (default: ${DEFAULT-VALUE}).")
    @Range(min = 1, max = 16_384)
    private int depth;

    @Option(
            names = {"-q", "--qps"},
            paramLabel = "N",
            defaultValue = "1",
            description = "Queue pairs that carry the traffic of bandwidth tests (default: ${DEFAULT-VALUE}).")
    @Range(min = 1, max = MOST_QUEUE_PAIRS)
    private int queuePairs;

    @Option(
            names = "--idle-qps",
            paramLabel = "N",
            defaultValue = "0",
            description = "Additional idle queue pairs on the same completion queue, to measure what they cost.")
    @Range(max = MOST_QUEUE_PAIRS)
    private int idleQueuePairs;

    @Option(
            names = {"-b", "--bidirectional"},
            description = "Both sides send at the same time in bandwidth tests.")
    private boolean bidirectional;

    @Option(names = "--no-floors", description = "Do not measure the limits of the machine itself.")
    private boolean noFloors;

    @Option(
            names = "--no-samples",
            description = "In latency tests, read the clock only at the beginning and the end, and report the mean.")
    private boolean noSamples;

    @Option(
            names = "--matrix",
            description =
                    "Instead of the tests: request_lat in every work mode and thread mode, and the CPU time of both"
                            + " processes, busy and idle, in percent of a core.")
    private boolean matrix;

    @Mixin
    private final TransportServiceOption transport = new TransportServiceOption();

    /// Whether all modes are measured.
    boolean isMatrix() {
        return matrix;
    }

    private long durationNanos() {
        double standard = matrix ? MATRIX_SECONDS : TEST_SECONDS;
        return (long) ((duration == null ? standard : duration) * 1e9);
    }

    private long warmUpNanos() {
        return (long) (warmUp * 1e9);
    }

    /// The settings for all tests but collectives.
    ///
    /// @param chosen the modes to measure in; null if the tests poll
    /// @throws ParameterException if a test is unknown, or cannot wait in the chosen modes
    BenchSettings settings(@Nullable Modes chosen) {
        if (queuePairs + idleQueuePairs > MOST_QUEUE_PAIRS) {
            throw usage("--qps and --idle-qps can be at most " + MOST_QUEUE_PAIRS + " together");
        }
        List<BenchTest> wanted = matrix ? List.of(BenchTest.REQUEST_LAT) : tests(chosen);
        List<Long> wantedSizes = sizes();
        transport.check(wanted, wantedSizes);
        return new BenchSettings(
                wanted,
                wantedSizes,
                iterations,
                durationNanos(),
                warmUpNanos(),
                warmUpNanos() / 4,
                depth,
                queuePairs,
                idleQueuePairs,
                bidirectional,
                !noFloors,
                !noSamples,
                modes(chosen),
                transport.service());
    }

    /// The settings for a C program at the other end, with its defaults.
    ///
    /// @throws ParameterException if the program does not support the settings
    PerftestSettings settings(PerftestProgram program, ConnectionOptions how, Duration timeout) {
        boolean sized = isGiven("--sizes");
        if (sized && (sizes.size() != 1 || (program.hasFixedSize() && sizes.getFirst() != program.bytes()))) {
            throw usage("--sizes must be " + (program.hasFixedSize() ? program.bytes() : "one size")
                    + " with --interop " + program.label());
        }
        if (isGiven("--iterations")) {
            Ranges.check(
                    spec,
                    "--iterations",
                    iterations,
                    PerftestSettings.FEWEST_ITERATIONS,
                    PerftestSettings.MOST_ITERATIONS);
        }
        return new PerftestSettings(
                program,
                sized ? sizes.getFirst().intValue() : program.bytes(),
                isGiven("--iterations") ? (int) iterations : program.iterations(),
                depth,
                how,
                timeout);
    }

    /// The default sizes of datagrams fit every Ethernet.
    private List<Long> sizes() {
        boolean datagrams = transport.service() == TransportService.UD;
        if (all) {
            return powersOfTwo(0, datagrams ? LARGEST_DATAGRAM_SHIFT : LARGEST_SHIFT);
        }
        return datagrams && !isGiven("--sizes") ? DATAGRAM_SIZES : sizes;
    }

    private boolean isGiven(String option) {
        return spec.commandLine().getParseResult().hasMatchedOption(option);
    }

    private List<Modes> modes(@Nullable Modes chosen) {
        if (matrix) {
            return Modes.all();
        }
        return chosen == null ? List.of() : List.of(chosen);
    }

    /// Rejects options that cannot be combined with the transport or the matrix.
    ///
    /// @param meshed whether to measure collectives
    /// @throws ParameterException if one was given
    void check(boolean meshed) {
        if (matrix) {
            Excludes.check(spec, "--matrix", NOT_WITH_MATRIX);
        }
        transport.checkOptions();
        if (meshed && !transport.service().isReliable()) {
            throw usage("collectives run over reliable connections: leave --transport out");
        }
    }

    /// The chosen tests; with modes, those that can wait in them.
    private List<BenchTest> tests(@Nullable Modes chosen) {
        List<BenchTest> usual = Arrays.stream(BenchTest.values())
                .filter(test -> test.isUsual()
                        && transport.service().allows(test)
                        && (chosen == null || test.hasBlockingForm()))
                .toList();
        List<BenchTest> wanted =
                tests.isEmpty() ? usual : tests.stream().map(this::test).toList();
        for (BenchTest test : wanted) {
            if (test.usesSocket()) {
                String sockets = test.label() + ", which uses one socket in one direction";
                Excludes.check(spec, sockets, List.of("--work-mode", "--thread-mode", "--qps", "--bidirectional"));
            }
            if (chosen != null && !test.hasBlockingForm()) {
                throw usage(test.label() + " always polls, so it cannot be combined with --work-mode or --thread-mode:"
                        + " leave them out, or choose from send_lat, read_lat, atomic_lat and request_lat");
            }
        }
        return wanted;
    }

    private BenchTest test(String label) {
        try {
            return BenchTest.named(label);
        } catch (IllegalArgumentException e) {
            throw usage(String.valueOf(e.getMessage()));
        }
    }

    /// The chosen collectives; empty if there are none.
    ///
    /// @throws ParameterException if other tests were chosen as well
    List<CollectiveTest> collectives() {
        List<CollectiveTest> chosen = CollectiveBenchOptions.collectives(tests);
        if (!chosen.isEmpty() && chosen.size() < tests.size()) {
            throw usage("collectives run without a server and without other tests; run the others separately");
        }
        return chosen;
    }

    /// The settings for collectives.
    CollectiveSettings collectiveSettings(List<CollectiveTest> chosen, CollectiveBenchOptions how) {
        return how.settings(chosen, collectiveSizes(), iterations, durationNanos(), warmUpNanos());
    }

    private List<Long> collectiveSizes() {
        if (all) {
            return powersOfTwo(SMALLEST_COLLECTIVE_SHIFT, LARGEST_COLLECTIVE_SHIFT);
        }
        return isGiven("--sizes") ? sizes : COLLECTIVE_SIZES;
    }

    private static List<Long> powersOfTwo(int first, int last) {
        return IntStream.rangeClosed(first, last).mapToObj(shift -> 1L << shift).toList();
    }

    private ParameterException usage(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
