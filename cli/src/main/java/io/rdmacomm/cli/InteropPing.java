package io.rdmacomm.cli;

import io.rdmacomm.cli.interop.ConnectionServer;
import io.rdmacomm.cli.interop.PingPong;
import io.rdmacomm.cli.interop.PingPongResult;
import io.rdmacomm.cli.interop.PingPongServer;
import io.rdmacomm.cli.interop.PingPongSettings;
import io.rdmacomm.cli.interop.RpingClient;
import io.rdmacomm.cli.interop.RpingServer;
import io.rdmacomm.comm.DeviceChoice;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.cm.ConnectionManager;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/// `rdmacomm ping --interop`: both ends of the protocols of ibv_rc_pingpong(1) and rping(1), with their output.
final class InteropPing {
    /// What is to be done.
    ///
    /// @param bytes the length of a message
    /// @param count how many pings there are
    /// @param patience how long to wait for the peer, at each step
    /// @param verbose whether the text of each ping of rping is shown, as with its -v
    record Plan(InteropTool tool, int bytes, int count, Duration patience, boolean verbose) {}

    private final Plan plan;
    private final InteropOptions options;
    private final DeviceOptions device;
    private final ListenOptions listen;
    private final PrintWriter out;
    private final PrintWriter err;

    InteropPing(
            Plan plan,
            InteropOptions options,
            DeviceOptions device,
            ListenOptions listen,
            PrintWriter out,
            PrintWriter err) {
        this.plan = plan;
        this.options = options;
        this.device = device;
        this.listen = listen;
        this.out = out;
        this.err = err;
    }

    /// Answers until Ctrl-C, or until one client has gone.
    void serve(boolean once) throws IOException, InterruptedException {
        try (Context context = open()) {
            switch (plan.tool()) {
                case RC_PINGPONG -> servePingPong(context, once);
                case RPING -> serveRping(context, once);
            }
        }
    }

    private void servePingPong(Context context, boolean once) throws IOException {
        try (PingPongServer server = new PingPongServer(context, settings(), address());
                CloseOnExit _ = new CloseOnExit(server::close)) {
            listening(server.port());
            if (once) {
                server.runOnce(this::tell);
            } else {
                server.run(this::tell, this::complain);
            }
        }
    }

    private void serveRping(Context context, boolean once) throws InterruptedException {
        try (ConnectionManager manager = ConnectionManager.open(context);
                ConnectionServer server = RpingServer.listen(manager, address(), plan.patience(), data());
                CloseOnExit _ = new CloseOnExit(server::close, manager::close)) {
            listening(server.port());
            if (once) {
                server.runOnce(this::tell);
            } else {
                server.run(this::tell, this::complain);
            }
        }
    }

    /// Pings a server.
    void ping(PeerAddress server, JsonOption json) throws IOException, InterruptedException {
        int port = server.port(listen.port(plan.tool().port()));
        try (Context context = open()) {
            Map<String, Object> document = switch (plan.tool()) {
                case RC_PINGPONG -> pingPong(context, server.host(), port, !json.ownsStandardOutput());
                case RPING -> rping(context, server.host(), port, !json.ownsStandardOutput());
            };
            json.write(document, out);
        }
    }

    private Map<String, Object> pingPong(Context context, String host, int port, boolean text) throws IOException {
        PingPongResult result;
        try (PingPong game = new PingPong(context, settings(), text ? this::tell : line -> {})) {
            result = game.play(host, port);
        }
        if (text) {
            result.lines().forEach(this::tell);
        }
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("schema", 1);
        document.put(
                "environment",
                Environment.describe(
                        context.device().provider(), context.device().name()));
        document.put("bytes", result.messageBytes());
        document.put("pings", result.iterations());
        document.put("seconds", result.nanos() / 1e9);
        document.put("mbit_per_s", result.megabitsPerSecond());
        document.put("us_per_iteration", result.microsPerIteration());
        return document;
    }

    private Map<String, Object> rping(Context context, String host, int port, boolean text)
            throws IOException, InterruptedException {
        PingTimes times = new PingTimes();
        try (ConnectionManager manager = ConnectionManager.open(context);
                RpingClient client = RpingClient.connect(manager, host, port, plan.bytes(), plan.patience())) {
            for (int number = 0; number < plan.count(); number++) {
                times.record(client.ping(number));
                if (text && plan.verbose()) {
                    tell("ping data: " + client.text());
                }
            }
        }
        if (text) {
            tell(new PeerAddress(host, port) + ": " + times.line());
        }
        return times.document(context.device(), plan.bytes());
    }

    private Context open() {
        return DeviceChoice.open(
                device.device(), device.connection().path().port(), plan.tool().capability());
    }

    private PingPongSettings settings() {
        return new PingPongSettings(
                plan.bytes(),
                plan.count(),
                options.receives(),
                device.connection(PingPongSettings.MTU),
                options.check(),
                plan.patience());
    }

    private InetSocketAddress address() {
        int port = listen.port(plan.tool().port());
        return listen.bind().isEmpty() ? new InetSocketAddress(port) : new InetSocketAddress(listen.bind(), port);
    }

    private Consumer<String> data() {
        return plan.verbose() ? this::tell : line -> {};
    }

    private void listening(int port) {
        tell("listening on port " + port);
    }

    private void tell(String line) {
        out.println(line);
        out.flush();
    }

    private void complain(String line) {
        err.println("rdmacomm ping: " + line);
        err.flush();
    }
}
