package io.rdmacomm.cli.devices;

import io.rdmacomm.cli.command.JsonOption;
import io.rdmacomm.cli.command.Subcommand;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.Rdma;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/// `rdmacomm devices`: like ibv_devices(1).
@Command(
        name = "devices",
        description = "List the RDMA devices of this machine.",
        footer = {"", "The exit code is 1 if there is none.", "", "Example:", "  rdmacomm devices"})
public final class DevicesCommand extends Subcommand {
    @Mixin
    private final JsonOption json = new JsonOption();

    @Override
    public Integer call() throws IOException {
        json.check();
        List<Device> devices = Rdma.devices();
        List<String> unavailable = Rdma.unavailable();
        json.write("", "", toMap(devices, unavailable), output());
        if (!json.ownsStandardOutput()) {
            print(devices, unavailable);
        }
        return devices.isEmpty() ? 1 : 0;
    }

    private void print(List<Device> devices, List<String> unavailable) {
        PrintWriter err = output().err();
        if (devices.isEmpty()) {
            output().complain("no device found; run `rdmacomm doctor` for details");
            unavailable.forEach(reason -> err.println("  " + reason));
            return;
        }
        String row = "    %-16s  %-16s  %s";
        output().println(row.formatted("device", "node GUID", "provider"));
        output().println(row.formatted("------", "----------------", "--------"));
        for (Device device : devices) {
            output().println(row.formatted(device.name(), "%016x".formatted(device.guid()), device.provider()));
        }
        unavailable.forEach(err::println);
    }

    private static Map<String, Object> toMap(List<Device> devices, List<String> unavailable) {
        List<Map<String, Object>> rows = new ArrayList<>();
        for (Device device : devices) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("device", device.name());
            row.put("node_guid", "%016x".formatted(device.guid()));
            row.put("provider", device.provider());
            row.put("transport", device.transport().name());
            rows.add(row);
        }
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("devices", rows);
        members.put("unavailable", unavailable);
        return members;
    }
}
