package io.rdmacomm.cli;

import io.rdmacomm.cli.bench.BenchCommand;
import io.rdmacomm.cli.copy.RecvCommand;
import io.rdmacomm.cli.copy.SendCommand;
import io.rdmacomm.cli.devices.DevicesCommand;
import io.rdmacomm.cli.devices.InfoCommand;
import io.rdmacomm.cli.devices.TopCommand;
import io.rdmacomm.cli.devices.WatchCommand;
import io.rdmacomm.cli.doctor.DoctorCommand;
import io.rdmacomm.cli.interop.CopyStringCommand;
import io.rdmacomm.cli.interop.PingCommand;
import io.rdmacomm.cli.interop.StreamCommand;
import io.rdmacomm.cli.mesh.MeshCommand;
import io.rdmacomm.cli.run.RunCommand;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/// The subcommands, in the order of the help.
final class CommandList {
    private CommandList() {}

    static Map<String, Supplier<Object>> create() {
        Map<String, Supplier<Object>> commands = new LinkedHashMap<>();
        commands.put("devices", DevicesCommand::new);
        commands.put("info", InfoCommand::new);
        commands.put("doctor", DoctorCommand::new);
        commands.put("watch", WatchCommand::new);
        commands.put("top", TopCommand::new);
        commands.put("ping", PingCommand::new);
        commands.put("bench", BenchCommand::new);
        commands.put("mesh", MeshCommand::new);
        commands.put("send", SendCommand::new);
        commands.put("recv", RecvCommand::new);
        commands.put("run", RunCommand::new);
        commands.put("stream", StreamCommand::new);
        commands.put("copy-string", CopyStringCommand::new);
        return commands;
    }
}
