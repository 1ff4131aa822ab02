package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.command.CommandOutput;
import io.rdmacomm.cli.command.DeviceOptions;
import io.rdmacomm.cli.command.JsonOption;
import io.rdmacomm.cli.command.ListenOptions;
import io.rdmacomm.cli.interop.InteropServer;
import io.rdmacomm.cli.interop.InteropServing;
import io.rdmacomm.cli.interop.PerftestFigures;
import io.rdmacomm.cli.interop.PerftestRun;
import io.rdmacomm.cli.interop.PerftestSettings;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.DeviceChoice;
import io.rdmacomm.verbs.PathMtu;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;

/// `rdmacomm bench --interop`: both ends of the perftest programs, with their output.
final class InteropBench {
    private final PerftestSettings plan;
    private final DeviceOptions device;
    private final CommandOutput output;

    /// @param plan the settings, before the port and the GID are added to their connection
    InteropBench(PerftestSettings plan, DeviceOptions device, CommandOutput output) {
        this.plan = plan;
        this.device = device;
        this.output = output;
    }

    /// Serves clients until Ctrl-C, or one client.
    void serve(ListenOptions where, boolean once) throws IOException, InterruptedException {
        InetAddress local = where.localAddress();
        DeviceChoice opened = open(local);
        try (Context context = opened.context();
                InteropServer server = PerftestRun.listen(
                        context, settings(opened, local), where.socketAddress(PerftestSettings.PORT))) {
            InteropServing.serve(server, where, null, once, output);
        }
    }

    /// Measures against a server.
    void measure(String host, int port, JsonOption json) throws IOException {
        InetAddress local = DeviceChoice.localAddress(new InetSocketAddress(host, port));
        DeviceChoice opened = open(local);
        try (Context context = opened.context()) {
            PerftestFigures figures = PerftestRun.run(context, settings(opened, local), host, port);
            if (!json.ownsStandardOutput()) {
                output.println(figures.text());
            }
            Map<String, Object> members = new LinkedHashMap<>();
            members.put("test", plan.program().label());
            members.put("results", figures.toMap());
            json.write(context.device().provider(), context.device().name(), members, output);
        }
    }

    private DeviceChoice open(InetAddress local) {
        return device.open(Capability.CONNECT_BY_NUMBERS, () -> local);
    }

    private PerftestSettings settings(DeviceChoice opened, InetAddress local) {
        return plan.withConnection(device.connection(opened, local, PathMtu.MTU_4096));
    }
}
