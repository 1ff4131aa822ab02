package io.rdmacomm.cli.command;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.host.DeviceChoice;
import io.rdmacomm.verbs.host.OpenPort;
import java.net.InetAddress;
import java.util.function.Supplier;
import picocli.CommandLine.Option;

/// Which device a command uses.
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

    /// Opens the named device, or else the one that suits best; see [DeviceChoice#open(int, Capability, Supplier)].
    public OpenPort open(int port, Capability needed, Supplier<InetAddress> local) {
        return name.isEmpty() ? DeviceChoice.open(port, needed, local) : new OpenPort(Rdma.open(name), port);
    }
}
