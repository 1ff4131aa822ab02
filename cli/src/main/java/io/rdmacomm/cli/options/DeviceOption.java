package io.rdmacomm.cli.options;

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
}
