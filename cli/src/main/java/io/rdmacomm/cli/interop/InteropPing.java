package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.CommandOutput;
import io.rdmacomm.cli.command.DeviceOptions;
import io.rdmacomm.cli.command.Interruption;
import io.rdmacomm.cli.command.JsonOption;
import io.rdmacomm.cli.command.ListenOptions;
import io.rdmacomm.cli.command.PeerAddress;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.DeviceChoice;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.cm.ConnectionManager;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// `rdmacomm ping --interop`: both sides of the protocols of ibv_rc_pingpong(1), its siblings and rping(1), with
/// their output.
final class InteropPing {
    /// How to ping.
    ///
    /// @param bytes the message size
    /// @param count the number of pings
    /// @param timeout how long to wait for the peer at each step
    /// @param verbose whether to show the text of each ping of rping, like its -v
    record Plan(int bytes, int count, Duration timeout, boolean verbose) {}

    private final InteropTool tool;
    private final Plan plan;
    private final InteropOptions options;
    private final DeviceOptions device;
    private final CommandOutput output;

    InteropPing(InteropTool tool, Plan plan, InteropOptions options, DeviceOptions device, CommandOutput output) {
        this.tool = tool;
        this.plan = plan;
        this.options = options;
        this.device = device;
        this.output = output;
    }

    /// Serves clients until Ctrl-C, or one client.
    void serve(ListenOptions where, boolean once) throws IOException, InterruptedException {
        InetSocketAddress address = where.socketAddress(tool.port());
        InetAddress local = address.isUnresolved() ? new InetSocketAddress(0).getAddress() : address.getAddress();
        DeviceChoice opened = open(() -> local);
        try (Context context = opened.context();
                ConnectionManager manager = tool == InteropTool.RPING ? ConnectionManager.open(context) : null;
                InteropServer server = listen(settings(opened, local), context, manager, address)) {
            InteropServing.serve(server, where, manager, once, output);
        }
    }

    private InteropServer listen(
            PingPongSettings settings, Context context, @Nullable ConnectionManager manager, InetSocketAddress address)
            throws IOException {
        Consumer<String> texts = plan.verbose() ? output::println : line -> {};
        return manager == null
                ? PingPongServer.listen(context, settings, address)
                : RpingServer.listen(manager, address, device.connection(), plan.timeout(), texts);
    }

    /// Pings a server; rping stops early on Ctrl-C.
    ///
    /// @return whether there was an answer
    boolean ping(String host, int port, JsonOption json) throws IOException, InterruptedException {
        boolean text = !json.ownsStandardOutput();
        InetAddress local = DeviceChoice.localAddress(new InetSocketAddress(host, port));
        DeviceChoice opened = open(() -> local);
        try (Context context = opened.context()) {
            Map<String, Object> result = switch (tool) {
                case RC_PINGPONG, UC_PINGPONG, UD_PINGPONG ->
                    pingPong(settings(opened, local), context, host, port, text);
                case RPING -> rping(context, host, port, text);
            };
            json.write(context.device().provider(), context.device().name(), result, output);
            return !Long.valueOf(0).equals(result.get("pings"));
        }
    }

    private Map<String, Object> pingPong(
            PingPongSettings settings, Context context, String host, int port, boolean text) throws IOException {
        Consumer<String> lines = text ? output::println : line -> {};
        PingPongResult result;
        try (PingPongRun game = new PingPongRun(context, settings, lines)) {
            result = game.play(host, port);
        }
        result.lines().forEach(lines);
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("bytes", result.messageBytes());
        members.put("pings", result.iterations());
        members.put("seconds", result.nanos() / 1e9);
        members.put("mbit_per_second", result.megabitsPerSecond());
        members.put("us_per_iteration", result.microsPerIteration());
        return members;
    }

    private Map<String, Object> rping(Context context, String host, int port, boolean text)
            throws IOException, InterruptedException {
        PingTimes times = new PingTimes();
        try (ConnectionManager manager = ConnectionManager.open(context);
                RpingClient client =
                        RpingClient.connect(manager, host, port, device.connection(), plan.bytes(), plan.timeout());
                Interruption interruption = new Interruption()) {
            for (int number = 0; number < plan.count() && !interruption.hasHappened(); number++) {
                times.record(client.ping(number));
                if (text && plan.verbose()) {
                    output.println("ping data: " + client.text());
                }
            }
        } catch (InterruptedException _) {
            // Ctrl-C came while it waited for an answer.
        }
        if (text) {
            output.println(new PeerAddress(host, port) + ": " + times.line());
        }
        return times.toMap(plan.bytes());
    }

    private DeviceChoice open(Supplier<InetAddress> local) {
        return device.open(tool.capability(), local);
    }

    private PingPongSettings settings(DeviceChoice opened, InetAddress local) {
        QueuePairType type = switch (tool) {
            case UC_PINGPONG -> QueuePairType.UNRELIABLE_CONNECTED;
            case UD_PINGPONG -> QueuePairType.UNRELIABLE_DATAGRAM;
            case RC_PINGPONG, RPING -> QueuePairType.RELIABLE_CONNECTED;
        };
        return new PingPongSettings(
                type,
                plan.bytes(),
                plan.count(),
                options.receives(),
                device.connection(opened, local, PingPongSettings.MTU),
                options.checksContent(),
                plan.timeout());
    }
}
