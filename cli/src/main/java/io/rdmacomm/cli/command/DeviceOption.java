package io.rdmacomm.cli.command;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.DeviceChoice;
import io.rdmacomm.verbs.Rdma;
import java.net.InetAddress;
import java.util.function.Supplier;
import picocli.CommandLine.Option;

/// The option that names the device of a command.
public final class DeviceOption {
    @Option(
            names = {"-d", "--device"},
            paramLabel = "DEVICE",
            description = "The RDMA device (default: the first usable one); `rdmacomm devices` lists them.")
    private String name = "";

    /// The name of the device; empty for the first usable one.
    public String name() {
        return name;
    }

    /// Opens the named device, or else the best one; see [DeviceChoice#open(int, Capability, Supplier)].
    public DeviceChoice open(int port, Capability needed, Supplier<InetAddress> local) {
        return name.isEmpty() ? DeviceChoice.open(port, needed, local) : new DeviceChoice(Rdma.open(name), port);
    }
}
