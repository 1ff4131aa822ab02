package io.rdmacomm.cli.devices;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.JsonOption;
import io.rdmacomm.cli.command.Subcommand;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.Rdma;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/// `rdmacomm info`: like ibv_devinfo(1) -v, with the same names.
@Command(
        name = "info",
        description = "Show a device with its limits and ports.",
        footer = {"", "Example:", "  rdmacomm info soft0"})
public final class InfoCommand extends Subcommand {
    @Mixin
    private final JsonOption json = new JsonOption();

    @Parameters(arity = "0..1", paramLabel = "DEVICE", description = "The device (default: all devices).")
    private String name = "";

    @Override
    public Integer call() throws IOException {
        json.check();
        List<Device> devices = name.isEmpty() ? Rdma.devices() : List.of(Rdma.device(name));
        if (devices.isEmpty()) {
            throw new CommandFailure("no device found: " + String.join("; ", Rdma.unavailable()));
        }
        List<Map<String, Object>> described = new ArrayList<>();
        for (Device device : devices) {
            try (Context context = device.open()) {
                described.add(DeviceDescription.of(context));
            }
        }
        if (!json.ownsStandardOutput()) {
            described.forEach(description -> DescriptionText.print(description, output().out()));
        }
        json.write("", name, Map.of("devices", described), output());
        return 0;
    }
}
