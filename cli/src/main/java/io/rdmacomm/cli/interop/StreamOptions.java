package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.ByteSize;
import io.rdmacomm.cli.command.Range;
import io.rdmacomm.cli.rig.WatchedSocket.Waiting;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/// The options of rstream, with the same letters.
final class StreamOptions {
    private static final long MAX_BYTES = 1L << 30;
    private static final int ALL = 0;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = {"-S", "--size"},
            paramLabel = "BYTES",
            converter = SizeConverter.class,
            description = "The size of a transfer, 1 to 1g (default: 1000); or all, for the usual tests in all sizes.")
    private @Nullable Integer size;

    @Option(
            names = {"-C", "--count"},
            paramLabel = "N",
            description = "The transfers of an iteration in one direction (default: 1000).")
    @Range(min = 1, max = 1_000_000_000)
    private @Nullable Integer transfers;

    @Option(
            names = {"-I", "--iterations"},
            paramLabel = "N",
            description = "The iterations: the client sends all transfers, then the server does (default: 1).")
    @Range(min = 1, max = 1_000_000_000)
    private @Nullable Integer iterations;

    @Option(
            names = {"-B", "--buffer"},
            paramLabel = "BYTES",
            converter = ByteSize.class,
            defaultValue = "512k",
            description = "The size of the send and the receive buffer of the socket (default: ${DEFAULT-VALUE}).")
    @Range(min = 1, max = MAX_BYTES)
    private long buffer;

    @Option(
            names = {"-T", "--test"},
            paramLabel = "OPTION",
            converter = TestOption.Converter.class,
            description =
                    "As in rstream, can be repeated: v checks every byte, if both ends have it; n asks again and again"
                            + " (the default), a waits with a selector, b in blocking calls; s is --tcp; r has no effect.")
    private List<TestOption> tests = new ArrayList<>();

    @Option(names = "--tcp", description = "Use plain sockets of the JDK, to compare; at both ends.")
    private boolean tcp;

    /// Checks that the options fit together.
    ///
    /// @throws ParameterException if they do not
    void check() {
        if (tests.contains(TestOption.FORK)) {
            throw usage("-T f has no use here: the server serves one client after the other until Ctrl-C");
        }
        if (tests.contains(TestOption.BLOCK)
                && (tests.contains(TestOption.NONBLOCK) || tests.contains(TestOption.ASYNC))) {
            throw usage("-T b waits in blocking calls: it cannot be combined with -T a and -T n");
        }
        if (size != null && size == ALL && (transfers != null || iterations != null)) {
            throw usage("--size all has its own numbers of transfers: it cannot be combined with --count and"
                    + " --iterations");
        }
    }

    boolean isTcp() {
        return tcp || tests.contains(TestOption.SOCKET);
    }

    Plan plan() {
        Waiting waiting = tests.contains(TestOption.BLOCK)
                ? Waiting.BLOCKING
                : tests.contains(TestOption.ASYNC) ? Waiting.SELECTOR : Waiting.SPINNING;
        return new Plan(connections(), waiting, tests.contains(TestOption.VERIFY), (int) buffer);
    }

    /// The tests of each connection.
    private List<List<StreamTest>> connections() {
        boolean all = size != null && size == ALL;
        if (all || (size == null && transfers == null && iterations == null)) {
            return List.of(StreamTest.latency(all), StreamTest.bandwidth(all));
        }
        return List.of(List.of(StreamTest.custom(
                size == null ? StreamTest.DEFAULT_BYTES : size,
                transfers == null ? StreamTest.DEFAULT_TRANSFERS : transfers,
                iterations == null ? StreamTest.DEFAULT_ITERATIONS : iterations)));
    }

    private ParameterException usage(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    /// Reads a size, or `all`.
    static final class SizeConverter implements ITypeConverter<Integer> {
        /// For picocli.
        SizeConverter() {}

        @Override
        public Integer convert(String text) {
            if ("all".equalsIgnoreCase(text)) {
                return ALL;
            }
            long bytes = ByteSize.parse(text);
            if (bytes < 1 || bytes > MAX_BYTES) {
                throw new TypeConversionException(
                        "'" + text + "' is out of range: it can be 1 to " + ByteSize.format(MAX_BYTES) + ", or all");
            }
            return (int) bytes;
        }
    }

    /// The values of the option `-T` of rstream, as a word or its first letter.
    enum TestOption {
        /// Plain sockets.
        SOCKET,
        /// Wait with a selector.
        ASYNC,
        /// Wait in blocking calls.
        BLOCK,
        /// Do not wait: call again and again.
        NONBLOCK,
        /// Resolve the address with the connection manager, which every RDMA socket does here.
        RESOLVE,
        /// Check the data.
        VERIFY,
        /// A process for each client.
        FORK;

        private String word() {
            return name().toLowerCase(Locale.ROOT);
        }

        /// Reads a word like rstream, which also takes longer ones such as `blocking`.
        static final class Converter implements ITypeConverter<TestOption> {
            /// For picocli.
            Converter() {}

            @Override
            public TestOption convert(String text) {
                String given = text.toLowerCase(Locale.ROOT);
                return Arrays.stream(values())
                        .filter(option ->
                                given.length() == 1 ? option.word().startsWith(given) : given.startsWith(option.word()))
                        .findFirst()
                        .orElseThrow(() -> new TypeConversionException("'" + text
                                + "' is not one of socket, async, block, nonblock, resolve and verify, or the first"
                                + " letter of one"));
            }
        }
    }

    /// The settings that both command lines must agree on, because rstream exchanges none.
    ///
    /// @param connections the tests of each connection, one after the other
    /// @param waiting how to wait for the peer
    /// @param verified whether the data is checked
    /// @param bufferBytes the size of each buffer of a socket
    record Plan(List<List<StreamTest>> connections, Waiting waiting, boolean verified, int bufferBytes) {
        /// The size of the longest transfer.
        int longest() {
            return connections.stream()
                    .flatMap(List::stream)
                    .mapToInt(StreamTest::bytes)
                    .max()
                    .orElse(StreamTest.DEFAULT_BYTES);
        }
    }
}
