package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.DeviceOption;
import io.rdmacomm.cli.command.JsonOption;
import io.rdmacomm.cli.command.ListenOptions;
import io.rdmacomm.cli.command.PeerAddress;
import io.rdmacomm.cli.command.PeerOptions;
import io.rdmacomm.cli.command.Subcommand;
import io.rdmacomm.cli.command.TimeoutOption;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.cm.ConnectionManager;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/// `rdmacomm copy-string`: the usual first example in introductions to rdma_cm(7).
@Command(
        name = "copy-string",
        description = {
            "Copy a string into a server's memory with WRITE, read it back with READ, and compare.",
            "",
            "Interoperates with rdma_server and rdma_client of github.com/animeshtrivedi/rdma-example if both machines"
                    + " are",
            "little-endian. The default port is 20886 instead of 2020, because these programs have it."
        },
        footer = {
            "",
            "Examples:",
            "  rdmacomm copy-string --server             on one machine, and on another:",
            "  rdmacomm copy-string node7 textstring"
        })
public final class CopyStringCommand extends Subcommand {
    private static final int DEVICE_PORT = 1;

    @Mixin
    private final PeerOptions peer = new PeerOptions();

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "TEXT",
            description = "The string to copy, 1 byte to 16 MiB of UTF-8.")
    private @Nullable String text;

    @Mixin
    private final ListenOptions listen = new ListenOptions();

    @Mixin
    private final DeviceOption device = new DeviceOption();

    @Mixin
    private final TimeoutOption timeout = new TimeoutOption();

    @Mixin
    private final JsonOption json = new JsonOption();

    @Override
    public Integer call() throws IOException, InterruptedException {
        PeerAddress address = peer.address();
        byte[] bytes = text == null ? new byte[0] : text.getBytes(StandardCharsets.UTF_8);
        check(bytes);
        try (Context context = open(address);
                ConnectionManager manager = ConnectionManager.open(context)) {
            if (address == null) {
                serve(manager);
            } else {
                copy(manager, address, bytes);
            }
        }
        return 0;
    }

    private Context open(@Nullable PeerAddress server) {
        int port = listen.port(StringCopyClient.PORT);
        return device.open(
                        DEVICE_PORT,
                        Capability.CONNECTION_MANAGER,
                        () -> server == null ? listen.localAddress() : server.localAddress(port))
                .context();
    }

    private void check(byte[] bytes) throws IOException {
        peer.check();
        if (!peer.isServer() && text == null) {
            throw usage(
                    "HOST and TEXT are missing: name the machine where `rdmacomm copy-string --server` runs, and the"
                            + " string to copy");
        }
        if (text != null && (bytes.length < 1 || bytes.length > StringCopyClient.MAX_BYTES)) {
            throw usage("TEXT has " + bytes.length + " bytes: it can have 1 to " + StringCopyClient.MAX_BYTES);
        }
        json.check();
    }

    private void serve(ConnectionManager manager) throws IOException, InterruptedException {
        try (InteropServer server =
                StringCopyServer.listen(manager, listen.socketAddress(StringCopyClient.PORT), timeout.value(true))) {
            InteropServing.serve(server, listen, manager, peer.isOnce(), output());
        }
    }

    private void copy(ConnectionManager manager, PeerAddress address, byte[] bytes)
            throws IOException, InterruptedException {
        int port = address.port(listen.port(StringCopyClient.PORT));
        StringCopyClient.Result result =
                StringCopyClient.copy(manager, address.host(), port, bytes, timeout.value(false));
        double writeMicros = result.writeNanos() / 1e3;
        double readMicros = result.readNanos() / 1e3;
        if (!json.ownsStandardOutput()) {
            // The line of the C program.
            output().println("SUCCESS, source and destination buffers match");
            output().println("%d bytes: WRITE in %.1f us, READ back in %.1f us"
                    .formatted(result.bytes(), writeMicros, readMicros));
        }
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("bytes", result.bytes());
        members.put("match", true);
        members.put("write_us", writeMicros);
        members.put("read_us", readMicros);
        json.write(
                manager.context().device().provider(),
                manager.context().device().name(),
                members,
                output());
    }
}
