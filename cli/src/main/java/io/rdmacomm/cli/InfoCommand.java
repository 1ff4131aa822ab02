package io.rdmacomm.cli;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.verbs.Context;
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
import picocli.CommandLine.Parameters;

/// `rdmacomm info`: what ibv_devinfo(1) -v prints, under the same names.
@Command(
        name = "info",
        description = "Show what a device is, its limits and its ports.",
        footer = {"", "Example:", "  rdmacomm info soft0"})
final class InfoCommand extends Subcommand {
    @Mixin
    private final JsonOption json = new JsonOption();

    @Parameters(arity = "0..1", paramLabel = "DEVICE", description = "The device; all of them without it.")
    private String name = "";

    @Override
    public Integer call() throws IOException {
        json.check();
        PrintWriter out = out();
        List<Device> devices = name.isEmpty() ? Rdma.devices() : List.of(Rdma.device(name));
        if (devices.isEmpty()) {
            throw new CommandFailure("there is no device: " + String.join("; ", Rdma.unavailable()));
        }
        List<Map<String, Object>> described = new ArrayList<>();
        for (Device device : devices) {
            try (Context context = device.open()) {
                described.add(DeviceDescription.of(context));
            }
        }
        if (!json.ownsStandardOutput()) {
            described.forEach(description -> print(description, "", out));
        }
        if (json.requested()) {
            Map<String, Object> document = new LinkedHashMap<>();
            document.put("schema", 1);
            document.put("environment", Environment.describe("", name));
            document.put("devices", described);
            json.write(document, out);
        }
        return 0;
    }

    /// Prints the members one per line; an object or list of objects is indented below its name.
    private static void print(Map<?, ?> members, String indent, PrintWriter out) {
        members.forEach((key, value) -> {
            switch (value) {
                case Map<?, ?> inner -> {
                    out.println(indent + key + ":");
                    print(inner, indent + "    ", out);
                }
                case List<?> list
                when !list.isEmpty() && list.getFirst() instanceof Map ->
                    list.forEach(element -> {
                        out.println(indent + key + ":");
                        print((Map<?, ?>) element, indent + "    ", out);
                    });
                case List<?> list ->
                    out.printf(
                            "%s%-28s %s%n",
                            indent,
                            key + ":",
                            String.join(", ", list.stream().map(String::valueOf).toList()));
                default -> out.printf("%s%-28s %s%n", indent, key + ":", value);
            }
        });
    }
}
