package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.bench.result.BenchTest;
import io.rdmacomm.cli.bench.result.Modes;
import io.rdmacomm.cli.bench.result.TransportService;
import io.rdmacomm.cli.bench.trial.BenchSettings;
import io.rdmacomm.cli.collective.CollectiveBenchOptions;
import io.rdmacomm.cli.collective.CollectiveSettings;
import io.rdmacomm.cli.collective.CollectiveTest;
import io.rdmacomm.cli.terminal.ByteSize;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// The options of `rdmacomm bench` that choose the tests, and how long they run.
final class BenchOptions {
    private static final String DEFAULT_SIZES = "8,65536,1048576";
    private static final double TEST_SECONDS = 0.25;
    private static final long MAX_BYTES = 1L << 30;
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
    private List<Long> sizes = new ArrayList<>();

    @Option(
            names = {"-a", "--all"},
            description =
                    "All sizes that are powers of two, from 1 byte to 8 MiB; of datagrams, to 1 KiB; of collectives, from 8 bytes to 64 MiB.")
    private boolean all;

    @Option(
            names = {"-n", "--iterations"},
            paramLabel = "N",
            description = "Operations per test and size, instead of a duration.")
    private long iterations;

    @Option(
            names = {"-D", "--duration"},
            paramLabel = "SECONDS",
            description =
                    "How long to measure each test and size (default: 0.25; with --matrix 1.5, each mode busy and idle).")
    private @Nullable Double duration;

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

    @Option(
            names = "--no-samples",
            description = "In latency tests, read the clock only at the beginning and the end, and report the mean.")
    private boolean noSamples;

    @Mixin
    private final TransportServiceOption transport = new TransportServiceOption();

    /// The time to measure, in nanoseconds.
    long durationNanos(double defaultSeconds) {
        return (long) ((duration == null ? defaultSeconds : duration) * 1e9);
    }

    /// The minimum warm-up in nanoseconds.
    long warmUpNanos() {
        return (long) (warmUp * 1e9);
    }

    /// Checks how much to measure.
    ///
    /// @throws ParameterException if a number is out of range
    void checkTimes() {
        boolean measured = duration == null || (duration > 0 && duration <= 86_400);
        if (iterations < 0 || !measured || !(warmUp >= 0) || warmUp > 3600) {
            throw usage("--iterations must not be negative, --duration must be above 0 and at most 86400 seconds, and"
                    + " --warmup 0 to 3600 seconds");
        }
    }

    /// The settings for all other tests.
    ///
    /// @param chosen the modes to measure in; null if the tests poll
    /// @throws ParameterException if a number is out of range, or a test unknown or without modes
    BenchSettings settings(@Nullable Modes chosen) {
        if (depth < 1 || depth > 16_384 || queuePairs < 1 || idleQueuePairs < 0 || queuePairs + idleQueuePairs > 256) {
            throw usage("--depth can be 1 to 16384, --qps and --idle-qps together 1 to 256");
        }
        List<BenchTest> wanted = tests(chosen);
        List<Long> wantedSizes = checked(sizes());
        transport.check(wanted, wantedSizes);
        return new BenchSettings(
                wanted,
                wantedSizes,
                iterations,
                durationNanos(TEST_SECONDS),
                warmUpNanos(),
                warmUpNanos() / 4,
                depth,
                queuePairs,
                idleQueuePairs,
                bidirectional,
                !noFloors,
                !noSamples,
                chosen,
                transport.service());
    }

    /// Datagrams without a choice have sizes that every Ethernet carries.
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

    /// Rejects options that do not fit with the transport.
    ///
    /// @param meshed whether collectives are measured
    /// @throws ParameterException if there are some
    void checkTransport(boolean meshed) {
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
            if (chosen != null && !test.hasBlockingForm()) {
                throw usage(
                        test.label() + " always polls, so --work-mode and --thread-mode have no meaning with it: leave"
                                + " them out, or choose from send_lat, read_lat, atomic_lat and request_lat");
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

    /// The chosen collectives; empty if none is.
    ///
    /// @throws ParameterException if there are other tests as well
    List<CollectiveTest> collectives() {
        List<CollectiveTest> chosen = CollectiveBenchOptions.collectives(tests);
        if (!chosen.isEmpty() && chosen.size() < tests.size()) {
            throw usage("collectives have no server and no other tests beside them; run the others on their own");
        }
        return chosen;
    }

    /// The settings for collectives.
    ///
    /// @throws ParameterException if a size is out of range
    CollectiveSettings collectiveSettings(List<CollectiveTest> chosen, CollectiveBenchOptions how) {
        return how.settings(chosen, collectiveSizes(), iterations, durationNanos(TEST_SECONDS), warmUpNanos());
    }

    /// The arguments for another process that takes part in the same collectives.
    List<String> collectiveArguments() {
        String wanted = collectiveSizes().stream().map(String::valueOf).collect(Collectors.joining(","));
        return List.of(
                "--tests",
                String.join(",", tests),
                "--sizes",
                wanted,
                "--iterations",
                "" + iterations,
                "--duration",
                "" + durationNanos(TEST_SECONDS) / 1e9,
                "--warmup",
                "" + warmUp);
    }

    private List<Long> collectiveSizes() {
        if (all) {
            return powersOfTwo(SMALLEST_COLLECTIVE_SHIFT, LARGEST_COLLECTIVE_SHIFT);
        }
        return checked(isGiven("--sizes") ? sizes : COLLECTIVE_SIZES);
    }

    private List<Long> checked(List<Long> wanted) {
        for (long size : wanted) {
            if (size < 1 || size > MAX_BYTES) {
                throw usage("size " + size + " is out of range: sizes can be 1 to 1g");
            }
        }
        return wanted;
    }

    private static List<Long> powersOfTwo(int first, int last) {
        return IntStream.rangeClosed(first, last).mapToObj(shift -> 1L << shift).toList();
    }

    private ParameterException usage(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
