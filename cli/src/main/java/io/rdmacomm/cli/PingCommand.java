package io.rdmacomm.cli;

import io.rdmacomm.cli.terminal.ByteSize;
import io.rdmacomm.cli.terminal.DeviceLine;
import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/// `rdmacomm ping`: messages there and back, every byte checked on both sides.
@Command(
        name = "ping",
        description = "Send messages there and back, check every byte of them on both sides, and tell the times.",
        footer = {
            "",
            "Examples:",
            "  rdmacomm ping --server                on one machine, and on another one:",
            "  rdmacomm ping node7                   five pings",
            "  rdmacomm ping node7 --count 100000 --interval 0 --size 4096"
        })
final class PingCommand extends Subcommand {
    private static final int MAX_BYTES = 1 << 20;
    private static final int RECEIVES = 16;
    private static final long LONGEST_NANOS = 100_000_000_000L;

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
            description = "Where `rdmacomm ping --server` runs.")
    private @Nullable PeerAddress peer;

    @Option(names = "--server", description = "Answer pings until Ctrl-C, or until --count clients have gone.")
    private boolean server;

    @Option(names = "--once", description = "With --server: the same as --count 1.")
    private boolean once;

    @Option(
            names = {"-c", "--count"},
            paramLabel = "N",
            description = "How many pings (default: 5); with --server how many clients (default: no limit).")
    private @Nullable Long count;

    @Option(
            names = {"-s", "--size"},
            paramLabel = "BYTES",
            converter = ByteSize.class,
            defaultValue = "64",
            description = "Length of a message, 24 to 1M (default: ${DEFAULT-VALUE}).")
    private long size = 64;

    @Option(
            names = {"-i", "--interval"},
            paramLabel = "SECONDS",
            defaultValue = "0.2",
            description = "Time between pings; with 0 only the summary is printed (default: ${DEFAULT-VALUE}).")
    private double interval;

    @Option(
            names = {"-W", "--timeout"},
            paramLabel = "SECONDS",
            defaultValue = "5",
            description = "How long to wait for an answer (default: ${DEFAULT-VALUE}).")
    private double timeout;

    @Override
    public Integer call() throws IOException {
        check();
        PeerAddress address = peer;
        if (server) {
            return serve();
        }
        if (address == null) {
            throw usage("HOST is missing: where does `rdmacomm ping --server` run? This machine is localhost");
        }
        json.check();
        ping(address);
        return 0;
    }

    private void check() {
        if (server && peer != null) {
            throw usage("--server and HOST exclude each other");
        }
        if (size < PingMessage.HEADER_BYTES || size > MAX_BYTES) {
            throw usage("--size " + size + " is out of range: it can be " + PingMessage.HEADER_BYTES + " to 1M");
        }
        if ((count != null && count < 1) || !(interval >= 0) || interval > 3600 || !(timeout > 0) || timeout > 3600) {
            throw usage("--count must be at least 1, --interval 0 to 3600 and --timeout above 0 to 3600 seconds");
        }
    }

    private int serve() {
        long clients = once ? 1 : count == null ? 0 : count;
        try (PingServer pingServer = new PingServer(common().withAddress(listen.bind(), listen.port()), out());
                CloseOnExit _ = new CloseOnExit(pingServer::close)) {
            out().println(pingServer.device());
            out().println("listening on port " + pingServer.port());
            out().flush();
            pingServer.run(clients);
        }
        return 0;
    }

    private void ping(PeerAddress address) throws IOException {
        SessionOptions options = common().withName("ping client")
                .withThreadMode(ThreadMode.CALLER)
                .withAddress(address.host(), address.port());
        long wanted = count == null ? 5 : count;
        Histogram histogram = new Histogram(1, LONGEST_NANOS, 3);
        try (ClientSession session = ClientSession.connect(options);
                PingClient client = new PingClient(
                        session,
                        session.endPoint().channel(0),
                        (int) size,
                        Duration.ofNanos((long) (timeout * 1e9)),
                        ThreadLocalRandom.current().nextLong())) {
            DeviceLine line = DeviceLine.of(session);
            if (!json.ownsStandardOutput()) {
                out().println(line);
            }
            for (long number = 1; number <= wanted; number++) {
                long nanos = client.ping(number);
                histogram.recordValue(Math.clamp(nanos, 1, LONGEST_NANOS));
                tell(number, nanos);
                if (interval > 0 && number < wanted) {
                    pause();
                }
            }
            summarize(address, histogram, session, line);
        }
    }

    private void tell(long number, long nanos) {
        if (interval > 0 && !json.ownsStandardOutput()) {
            out().printf("ping %d: %d bytes there and back in %.1f us, content right%n", number, size, nanos / 1e3);
            out().flush();
        }
    }

    private void pause() {
        long end = System.nanoTime() + (long) (interval * 1e9);
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private void summarize(PeerAddress address, Histogram histogram, ClientSession session, DeviceLine line)
            throws IOException {
        if (!json.ownsStandardOutput()) {
            out().printf(
                            "%s: %d pings, %d right; there and back min %.1f, p50 %.1f, p99 %.1f, p99.9 %.1f, max %.1f us%n",
                            address,
                            histogram.getTotalCount(),
                            histogram.getTotalCount(),
                            histogram.getMinValue() / 1e3,
                            histogram.getValueAtPercentile(50) / 1e3,
                            histogram.getValueAtPercentile(99) / 1e3,
                            histogram.getValueAtPercentile(99.9) / 1e3,
                            histogram.getMaxValue() / 1e3);
        }
        if (json.requested()) {
            Map<String, Object> document = new LinkedHashMap<>();
            document.put("schema", 1);
            document.put(
                    "environment",
                    Environment.describe(
                            session.context().device().provider(),
                            session.context().device().name()));
            line.addTo(document);
            document.put("bytes", size);
            document.put("pings", histogram.getTotalCount());
            document.put("min_us", histogram.getMinValue() / 1e3);
            document.put("p50_us", histogram.getValueAtPercentile(50) / 1e3);
            document.put("p99_us", histogram.getValueAtPercentile(99) / 1e3);
            document.put("p999_us", histogram.getValueAtPercentile(99.9) / 1e3);
            document.put("max_us", histogram.getMaxValue() / 1e3);
            json.write(document, out());
        }
    }

    /// Both sides can take the longest message that there is.
    private SessionOptions common() {
        return device.apply(SessionOptions.defaults()
                .withChannel(ChannelOptions.defaults().withReceives(RECEIVES).withMessageBytes(MAX_BYTES)));
    }

    private ParameterException usage(String message) {
        return new ParameterException(spec().commandLine(), message);
    }
}
