package io.rdmacomm.cli;

import io.rdmacomm.cli.terminal.ByteSize;
import io.rdmacomm.cli.terminal.DeviceLine;
import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.Deadlines;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
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
            "  rdmacomm ping node7 --count 100000 --interval 0 --size 4096",
            "  rdmacomm ping --server --port 2020 --rdma-cm-port 2021   behind a firewall or forward for these two ports",
            "  rdmacomm ping --interop rping --server        for `rping -c -a node7` on another machine",
            "  rdmacomm ping --interop rc_pingpong node7     where `ibv_rc_pingpong -g 1` runs"
        })
final class PingCommand extends Subcommand {
    private static final int MAX_BYTES = 1 << 20;
    private static final int RECEIVES = 16;
    private static final int MOST_RECEIVES = 1 << 14;
    private static final int DEFAULT_BYTES = 64;
    private static final int DEFAULT_COUNT = 5;
    private static final double DEFAULT_TIMEOUT = 5;
    private static final double DEFAULT_SERVER_TIMEOUT = 60;

    @Mixin
    private final ListenOptions listen = new ListenOptions();

    @Mixin
    private final DeviceOptions device = new DeviceOptions();

    @Mixin
    private final InteropOptions interop = new InteropOptions();

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

    @Option(names = "--once", description = "With --server: end when one client has gone.")
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
            description = "Length of a message, 24 to 1M (default: 64); with rping 26 to 65535.")
    private @Nullable Long size;

    @Option(
            names = {"-i", "--interval"},
            paramLabel = "SECONDS",
            defaultValue = "0.2",
            description = "Time between pings; with 0 only the summary is printed (default: ${DEFAULT-VALUE}).")
    private double interval;

    @Option(
            names = {"-W", "--timeout"},
            paramLabel = "SECONDS",
            description = "How long to wait for an answer (default: 5; servers with --interop 60).")
    private @Nullable Double timeout;

    @Override
    public Integer call() throws IOException, InterruptedException {
        check();
        InteropTool tool = interop.tool();
        PeerAddress address = peer;
        if (!server && address == null) {
            throw usage("HOST is missing: where does `rdmacomm ping --server` run? This machine is localhost");
        }
        json.check();
        if (tool != null) {
            return interoperate(tool, address);
        }
        if (address == null) {
            return serve();
        }
        ping(address);
        return 0;
    }

    private void check() {
        if (server && peer != null) {
            throw usage("--server and HOST exclude each other");
        }
        if (server && json.requested()) {
            throw usage("--json belongs to the client");
        }
        if (interop.receives() < 2 || interop.receives() > MOST_RECEIVES) {
            throw usage("--rx-depth " + interop.receives() + " is out of range: it can be 2 to " + MOST_RECEIVES);
        }
        InteropTool tool = interop.tool();
        int least = tool == null ? PingMessage.HEADER_BYTES : tool.leastBytes();
        int most = tool == null ? MAX_BYTES : tool.mostBytes();
        if (size != null && (size < least || size > most)) {
            throw usage("--size " + size + " is out of range: it can be " + least + " to " + most);
        }
        if ((count != null && count < 1)
                || !(interval >= 0)
                || interval > 3600
                || (timeout != null && (!(timeout > 0) || timeout > 3600))) {
            throw usage("--count must be at least 1, --interval 0 to 3600 and --timeout above 0 to 3600 seconds");
        }
        if (tool != null) {
            device.refuseConnectionPort("--interop, which listens on --port only");
        }
        if (tool != null && count != null && count > Integer.MAX_VALUE) {
            throw usage("--count " + count + " is more than the C program takes: at most " + Integer.MAX_VALUE);
        }
        if (server && tool == InteropTool.RPING && count != null) {
            throw usage("--count belongs to the client of rping; --once ends the server after one client");
        }
    }

    private int interoperate(InteropTool tool, @Nullable PeerAddress address) throws IOException, InterruptedException {
        InteropPing.Plan plan = new InteropPing.Plan(
                tool,
                size == null ? tool.bytes() : size.intValue(),
                count == null ? tool.count() : count.intValue(),
                patience(),
                isVerbose());
        InteropPing ping = new InteropPing(plan, interop, device, listen, out(), err());
        if (address == null) {
            ping.serve(once);
        } else {
            ping.ping(address, json);
        }
        return 0;
    }

    private Duration patience() {
        double seconds = timeout != null ? timeout : server ? DEFAULT_SERVER_TIMEOUT : DEFAULT_TIMEOUT;
        return Duration.ofNanos((long) (seconds * 1e9));
    }

    private int bytes() {
        return size == null ? DEFAULT_BYTES : size.intValue();
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
        long wanted = count == null ? DEFAULT_COUNT : count;
        PingTimes times = new PingTimes();
        try (ClientSession session = ClientSession.connect(options);
                PingClient client = new PingClient(
                        session,
                        session.endPoint().channel(0),
                        bytes(),
                        patience(),
                        ThreadLocalRandom.current().nextLong())) {
            DeviceLine line = DeviceLine.of(session);
            if (!json.ownsStandardOutput()) {
                out().println(line);
            }
            for (long number = 1; number <= wanted; number++) {
                long nanos = client.ping(number);
                times.record(nanos);
                tell(number, nanos);
                if (interval > 0 && number < wanted) {
                    pause();
                }
            }
            if (!json.ownsStandardOutput()) {
                out().println(address + ": " + times.line());
            }
            if (json.requested()) {
                Map<String, Object> document = times.document(session.context().device(), bytes());
                line.addTo(document);
                json.write(document, out());
            }
        }
    }

    private void tell(long number, long nanos) {
        if (interval > 0 && !json.ownsStandardOutput()) {
            out().printf("ping %d: %d bytes there and back in %.1f us, content right%n", number, bytes(), nanos / 1e3);
            out().flush();
        }
    }

    private void pause() {
        long end = System.nanoTime() + (long) (interval * 1e9);
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    /// Both sides can take the longest message that there is.
    private SessionOptions common() {
        Deadlines deadlines = Deadlines.defaults();
        return device.apply(SessionOptions.defaults()
                .withDeadlines(timeout == null ? deadlines : deadlines.withHandshake(patience()))
                .withChannel(ChannelOptions.defaults().withReceives(RECEIVES).withMessageBytes(MAX_BYTES)));
    }

    private ParameterException usage(String message) {
        return new ParameterException(spec().commandLine(), message);
    }
}
