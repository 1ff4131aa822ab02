package io.rdmacomm.cli;

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

/// `rdmacomm devices`: what ibv_devices(1) prints.
@Command(
        name = "devices",
        description = "List the RDMA devices of this machine.",
        footer = {"", "Example:", "  rdmacomm devices"})
final class DevicesCommand extends Subcommand {
    @Mixin
    private final JsonOption json = new JsonOption();

    @Override
    public Integer call() throws IOException {
        json.check();
        PrintWriter out = out();
        List<Device> devices = Rdma.devices();
        List<String> unavailable = Rdma.unavailable();
        if (json.requested()) {
            json.write(document(devices, unavailable), out);
        }
        if (!json.ownsStandardOutput()) {
            print(devices, unavailable, out);
        }
        return devices.isEmpty() ? 1 : 0;
    }

    private void print(List<Device> devices, List<String> unavailable, PrintWriter out) {
        if (devices.isEmpty()) {
            PrintWriter err = err();
            err.println("rdmacomm devices: there is none; rdmacomm doctor says more");
            unavailable.forEach(reason -> err.println("  " + reason));
            return;
        }
        String row = "    %-16s  %-16s  %s%n";
        out.printf(row, "device", "node GUID", "provider");
        out.printf(row, "------", "----------------", "--------");
        for (Device device : devices) {
            out.printf(row, device.name(), "%016x".formatted(device.guid()), device.provider());
        }
        out.flush();
        unavailable.forEach(err()::println);
    }

    private static Map<String, Object> document(List<Device> devices, List<String> unavailable) {
        List<Map<String, Object>> rows = new ArrayList<>();
        for (Device device : devices) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("device", device.name());
            row.put("node_guid", "%016x".formatted(device.guid()));
            row.put("provider", device.provider());
            row.put("transport", device.transport().name());
            rows.add(row);
        }
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("schema", 1);
        document.put("environment", Environment.describe("", ""));
        document.put("devices", rows);
        document.put("unavailable", unavailable);
        return document;
    }
}
