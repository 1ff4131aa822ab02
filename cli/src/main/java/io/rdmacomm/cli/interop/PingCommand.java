package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.ByteSize;
import io.rdmacomm.cli.command.CloseOnExit;
import io.rdmacomm.cli.command.DeviceLine;
import io.rdmacomm.cli.command.Interruption;
import io.rdmacomm.cli.command.JsonOption;
import io.rdmacomm.cli.command.ListenOptions;
import io.rdmacomm.cli.command.PeerAddress;
import io.rdmacomm.cli.command.PeerOptions;
import io.rdmacomm.cli.command.Range;
import io.rdmacomm.cli.command.SessionFlags;
import io.rdmacomm.cli.command.Subcommand;
import io.rdmacomm.cli.command.TimeoutOption;
import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.Deadlines;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.SharedReceives;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.verbs.RdmaInterruptedException;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `rdmacomm ping`: sends messages back and forth, and checks every byte on both sides.
@Command(
        name = "ping",
        description = "Send messages back and forth, check every byte on both sides, and show the round-trip times.",
        footer = {
            "",
            "Examples:",
            "  rdmacomm ping --server                on one machine, and on another:",
            "  rdmacomm ping node7                   five pings",
            "  rdmacomm ping node7 --count 100000 --interval 0 --size 4096",
            "  rdmacomm ping node7 --work-mode completion-channel    sleeps while it waits for an answer",
            "  rdmacomm ping --server --shared-receives 256      for many clients, with 256 MiB instead of 16 for each",
            "  rdmacomm ping --server --port 2020 --rdma-cm-port 2021   behind a firewall or forward for these two"
                    + " ports",
            "  rdmacomm ping --interop rping --server        for `rping -c -a node7` on another machine",
            "  rdmacomm ping --interop rc_pingpong node7     where `ibv_rc_pingpong -g 1` runs"
        })
public final class PingCommand extends Subcommand {
    private static final int MAX_BYTES = 1 << 20;
    private static final int RECEIVES = 16;
    private static final int DEFAULT_BYTES = 64;
    private static final int DEFAULT_COUNT = 5;

    @Mixin
    private final PeerOptions peer = new PeerOptions();

    @Option(
            names = {"-c", "--count"},
            paramLabel = "N",
            description = "Number of pings (default: 5); with --server, exit after this many clients.")
    @Range(min = 1)
    private @Nullable Long count;

    @Option(
            names = {"-s", "--size"},
            paramLabel = "BYTES",
            converter = ByteSize.class,
            description = "Message size, 24 to 1M (default: 64); 26 to 65535 with rping.")
    private @Nullable Long size;

    @Option(
            names = {"-i", "--interval"},
            paramLabel = "SECONDS",
            defaultValue = "0.2",
            description = "Time between pings; 0 shows only the summary (default: ${DEFAULT-VALUE}).")
    @Range(max = 3600)
    private double interval;

    @Option(
            names = "--shared-receives",
            paramLabel = "N",
            description = "With --server: share N receives of 1 MiB between all clients, at most N/2 at a time, "
                    + "instead of 16 for each.")
    @Range(min = 2, max = 1 << 16)
    private @Nullable Integer sharedReceives;

    @Mixin
    private final TimeoutOption timeout = new TimeoutOption();

    @Mixin
    private final InteropOptions interop = new InteropOptions();

    @Mixin
    private final JsonOption json = new JsonOption();

    @Mixin
    private final ListenOptions listen = new ListenOptions();

    @Mixin
    private final SessionFlags flags = new SessionFlags();

    @Override
    public Integer call() throws IOException, InterruptedException {
        PeerAddress address = peer.address();
        InteropTool tool = interop.tool();
        check(tool);
        if (!peer.isServer() && address == null) {
            throw usage("HOST is missing: name the machine where `rdmacomm ping --server` runs, or localhost");
        }
        json.check();
        if (tool != null) {
            return interoperate(tool, address);
        }
        if (address == null) {
            serve();
            return 0;
        }
        return ping(address) ? 0 : 1;
    }

    private void check(@Nullable InteropTool tool) {
        peer.check();
        int minBytes = tool == null ? PingMessage.HEADER_BYTES : tool.minBytes();
        int maxBytes = tool == null ? MAX_BYTES : tool.maxBytes();
        if (size != null) {
            checkRange("--size", size, minBytes, maxBytes);
        }
        if (sharedReceives != null && (!peer.isServer() || tool != null)) {
            throw usage("--shared-receives is an option of `ping --server` without --interop");
        }
        if (tool != null) {
            checkInterop(tool);
        }
    }

    private void checkInterop(InteropTool tool) {
        flags.exclude("--interop, which uses no session");
        if (count != null) {
            checkRange("--count", count, 1, Integer.MAX_VALUE);
        }
        if (peer.isServer() && tool == InteropTool.RPING && count != null) {
            throw usage("--count is an option of the rping client; --once ends the server after one client");
        }
    }

    private int interoperate(InteropTool tool, @Nullable PeerAddress address) throws IOException, InterruptedException {
        InteropPing ping = new InteropPing(
                tool,
                new InteropPing.Plan(
                        size == null ? tool.bytes() : size.intValue(),
                        count == null ? tool.count() : count.intValue(),
                        timeout.value(peer.isServer()),
                        isVerbose()),
                interop,
                flags.device(),
                output());
        if (address == null) {
            ping.serve(listen, peer.isOnce());
            return 0;
        }
        return ping.ping(address.host(), address.port(listen.port(tool.port())), json) ? 0 : 1;
    }

    private void serve() {
        long clients = peer.isOnce() ? 1 : count == null ? Long.MAX_VALUE : count;
        SessionOptions options = listen.apply(sessionOptions(ThreadMode.SHARED_CQ));
        if (sharedReceives != null) {
            options = options.withSharedReceives(
                    SharedReceives.of(sharedReceives, sharedReceives / 2).withGuaranteed(1));
        }
        try (PingServer server = new PingServer(options, output());
                CloseOnExit _ = new CloseOnExit(server::close)) {
            output().println(server.device());
            output().println(listen.line(server.port(), options));
            server.run(clients);
        }
    }

    /// Pings until Ctrl-C.
    ///
    /// @return whether there was an answer
    private boolean ping(PeerAddress address) throws IOException {
        SessionOptions options = sessionOptions(ThreadMode.CALLER)
                .withName("ping client")
                .withAddress(address.host(), address.port(listen.port()));
        int bytes = size == null ? DEFAULT_BYTES : size.intValue();
        long pings = count == null ? DEFAULT_COUNT : count;
        boolean text = !json.ownsStandardOutput();
        PingTimes times = new PingTimes();
        try (ClientSession session = ClientSession.connect(options);
                PingClient client = new PingClient(
                        session,
                        bytes,
                        timeout.value(false),
                        ThreadLocalRandom.current().nextLong());
                CloseOnExit _ = new CloseOnExit(session::close)) {
            DeviceLine line = DeviceLine.of(session);
            if (text) {
                output().println(line);
            }
            try (Interruption interruption = new Interruption()) {
                for (long number = 1; number <= pings && !interruption.hasHappened(); number++) {
                    long nanos = client.ping(number);
                    times.record(nanos);
                    if (text && interval > 0) {
                        output().println("ping %d: %d bytes back and forth in %.1f us, correct"
                                .formatted(number, bytes, nanos / 1e3));
                    }
                    if (interval > 0 && number < pings) {
                        sleep(interval);
                    }
                }
            } catch (RdmaInterruptedException _) {
                // Ctrl-C came while it waited for an answer.
            }
            if (text) {
                output().println(address + ": " + times.line());
                if (!times.isEmpty() && !times.isWarm()) {
                    output().println("Both JVMs are new, and slow at first; --interval 0 --count "
                            + PingTimes.WARM_PINGS + " shows how fast they become.");
                }
            }
            Map<String, Object> result = times.toMap(bytes);
            line.addTo(result);
            json.write(session.context().device().provider(), line.device(), result, output());
        }
        return !times.isEmpty();
    }

    private static void sleep(double seconds) {
        long end = System.nanoTime() + (long) (seconds * 1e9);
        for (long left = end - System.nanoTime();
                left > 0 && !Thread.currentThread().isInterrupted();
                left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    /// Options that let both sides receive the longest message.
    private SessionOptions sessionOptions(ThreadMode mode) {
        Deadlines deadlines = Deadlines.defaults();
        return flags.apply(SessionOptions.defaults()
                .withThreadMode(mode)
                .withDeadlines(timeout.isGiven() ? deadlines.withHandshake(timeout.value(peer.isServer())) : deadlines)
                .withChannel(ChannelOptions.defaults().withReceives(RECEIVES).withMessageBytes(MAX_BYTES)));
    }
}
