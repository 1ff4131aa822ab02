package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.command.SessionFlags;
import io.rdmacomm.cli.rig.FrameCodec;
import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/// The options of both sides of a file copy.
final class CopyOptions {
    /// Room for a WRITE and a message for each block in flight.
    private static final int SEND_WINDOW = 128;
    /// Room for 64 blocks, and for an offer and an end of each of 64 files.
    private static final int RECEIVES = 208;

    @Option(
            names = "--existing",
            paramLabel = "WHAT",
            description =
                    "What happens to a file that exists at the receiver: overwrite it when the new one is complete,"
                            + " skip the new one, update it if size or time differ, or rename the new one to NAME.1,"
                            + " NAME.2 ... (default: overwrite; the choice of `recv` applies to all of its senders).")
    private @Nullable Existing existing;

    @Option(
            names = "--transport",
            paramLabel = "rdma|tcp",
            defaultValue = "RDMA",
            description = "How data is transferred; must be the same on both sides (default: rdma).")
    private Transport transport = Transport.RDMA;

    @Mixin
    private final SessionFlags flags = new SessionFlags();

    /// The ways to transfer data.
    enum Transport {
        /// WRITEs into the receiver's memory.
        RDMA,
        /// A plain TCP socket, for comparison.
        TCP
    }

    /// The rule for files that exist; null if none was given.
    @Nullable
    Existing existing() {
        return existing;
    }

    /// The chosen transport.
    ///
    /// @throws ParameterException if other options cannot be combined with it
    Transport transport() {
        if (transport == Transport.TCP) {
            flags.exclude("--transport tcp, which uses no session and protects nothing");
        }
        return transport;
    }

    /// The transport as it is written on the command line.
    String label() {
        return transport.name().toLowerCase(Locale.ROOT);
    }

    /// The name of the device; empty for the first usable one.
    String device() {
        return flags.device().device();
    }

    /// The session options of a side.
    SessionOptions session(String name) {
        return flags.apply(SessionOptions.defaults()
                .withName(name)
                .withThreadMode(ThreadMode.CALLER)
                .withChannel(ChannelOptions.defaults()
                        .withSendWindow(SEND_WINDOW)
                        .withReceives(RECEIVES)
                        .withMessageBytes(FrameCodec.MAX_BYTES)));
    }
}
