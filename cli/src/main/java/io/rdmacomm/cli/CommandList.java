package io.rdmacomm.cli;

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
        commands.put("copy-string", CopyStringCommand::new);
        return commands;
    }
}
