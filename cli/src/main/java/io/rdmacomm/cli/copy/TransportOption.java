package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.options.DeviceOptions;
import io.rdmacomm.cli.options.ModeOptions;
import java.util.Locale;
import picocli.CommandLine.Option;

/// How a file copy transfers data.
final class TransportOption {
    @Option(
            names = "--transport",
            paramLabel = "rdma|tcp",
            defaultValue = "RDMA",
            description = "How data is transferred; must be the same on both sides (default: rdma).")
    private Transport transport = Transport.RDMA;

    /// The choices.
    enum Transport {
        /// WRITEs into the receiver's memory.
        RDMA,
        /// A plain TCP socket, for comparison.
        TCP
    }

    /// The choice, after a check that the other options make sense with it.
    Transport checked(DeviceOptions device, ModeOptions modes) {
        if (transport == Transport.TCP) {
            device.rejectConnectionPort("--transport tcp, which needs one port only");
            device.rejectTrust("--transport tcp, which uses no session and protects nothing");
            modes.reject("--transport tcp, which uses no session");
        }
        return transport;
    }

    /// The choice as it is written on the command line.
    String label() {
        return transport.name().toLowerCase(Locale.ROOT);
    }
}
