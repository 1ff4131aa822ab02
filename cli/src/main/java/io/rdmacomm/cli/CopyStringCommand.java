package io.rdmacomm.cli;

import io.rdmacomm.cli.interop.ConnectionServer;
import io.rdmacomm.cli.interop.StringCopyClient;
import io.rdmacomm.cli.interop.StringCopyResult;
import io.rdmacomm.cli.interop.StringCopyServer;
import io.rdmacomm.comm.DeviceChoice;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.cm.ConnectionManager;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/// `rdmacomm copy-string`: the example that introductions to rdma_cm(7) use.
@Command(
        name = "copy-string",
        description =
                "Copy a string into a server's memory with WRITE, read it back with READ, and compare. Speaks with"
                        + " rdma_server and rdma_client of github.com/animeshtrivedi/rdma-example where both machines are"
                        + " little-endian.",
        footer = {
            "",
            "Examples:",
            "  rdmacomm copy-string --server             on one machine, and on another one:",
            "  rdmacomm copy-string node7 textstring"
        })
final class CopyStringCommand extends Subcommand {
    private static final int DEVICE_PORT = 1;
    private static final double DEFAULT_TIMEOUT = 5;
    private static final double DEFAULT_SERVER_TIMEOUT = 60;

    @Option(
            names = {"-d", "--device"},
            paramLabel = "DEVICE",
            description = "The RDMA device; the first one that can be used without it. `rdmacomm devices` lists them.")
    private String device = "";

    @Option(
            names = "--bind",
            paramLabel = "ADDRESS",
            description = "With --server: the address to listen on; all without it.")
    private String bind = "";

    @Option(
            names = {"-p", "--port"},
            paramLabel = "PORT",
            description = "The port of the server (default: ${DEFAULT-VALUE}); 0 takes a free one.",
            defaultValue = "20886")
    private int port = StringCopyClient.PORT;

    @Mixin
    private final JsonOption json = new JsonOption();

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "HOST[:PORT]",
            converter = PeerAddress.Converter.class,
            description = "Where `rdmacomm copy-string --server` or rdma_server runs.")
    private @Nullable PeerAddress peer;

    @Parameters(index = "1", arity = "0..1", paramLabel = "TEXT", description = "What to copy, 1 byte to 16 MiB.")
    private @Nullable String text;

    @Option(names = "--server", description = "Lend memory to clients until Ctrl-C.")
    private boolean server;

    @Option(names = "--once", description = "With --server: end when one client has gone.")
    private boolean once;

    @Option(
            names = {"-W", "--timeout"},
            paramLabel = "SECONDS",
            description = "How long to wait for the other side, at each step (default: 5; servers 60).")
    private @Nullable Double timeout;

    @Override
    public Integer call() throws IOException, InterruptedException {
        check();
        PeerAddress address = peer;
        String words = text;
        try (Context context = DeviceChoice.open(device, DEVICE_PORT, Capability.CONNECTION_MANAGER);
                ConnectionManager manager = ConnectionManager.open(context)) {
            if (address == null || words == null) {
                serve(manager);
            } else {
                copy(manager, address, words.getBytes(StandardCharsets.UTF_8));
            }
        }
        return 0;
    }

    private void check() throws IOException {
        if (server && peer != null) {
            throw usage("--server and HOST exclude each other");
        }
        if (server && json.requested()) {
            throw usage("--json belongs to the client");
        }
        if (!server && (peer == null || text == null)) {
            throw usage("HOST and TEXT are missing: where does `rdmacomm copy-string --server` run, and what is to be"
                    + " copied?");
        }
        if (timeout != null && (!(timeout > 0) || timeout > 3600)) {
            throw usage("--timeout must be above 0 to 3600 seconds");
        }
        if (text != null) {
            int bytes = text.getBytes(StandardCharsets.UTF_8).length;
            if (bytes < 1 || bytes > StringCopyClient.MAX_BYTES) {
                throw usage("TEXT has " + bytes + " bytes: it can have 1 to " + StringCopyClient.MAX_BYTES);
            }
        }
        json.check();
    }

    private void serve(ConnectionManager manager) throws InterruptedException {
        InetSocketAddress address = bind.isEmpty() ? new InetSocketAddress(port) : new InetSocketAddress(bind, port);
        try (ConnectionServer copies = StringCopyServer.listen(manager, address, patience());
                CloseOnExit _ = new CloseOnExit(copies::close, manager::close)) {
            tell("listening on port " + copies.port());
            if (once) {
                copies.runOnce(this::tell);
            } else {
                copies.run(this::tell, this::complain);
            }
        }
    }

    private void copy(ConnectionManager manager, PeerAddress address, byte[] bytes)
            throws IOException, InterruptedException {
        StringCopyResult result = StringCopyClient.copy(manager, address.host(), address.port(port), bytes, patience());
        if (!json.ownsStandardOutput()) {
            tell("SUCCESS, source and destination buffers match");
            out().printf(
                            "%d bytes: WRITE in %.1f us, READ back in %.1f us%n",
                            result.bytes(), result.writeNanos() / 1e3, result.readNanos() / 1e3);
        }
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("schema", 1);
        document.put(
                "environment",
                Environment.describe(
                        manager.context().device().provider(),
                        manager.context().device().name()));
        document.put("bytes", result.bytes());
        document.put("match", true);
        document.put("write_us", result.writeNanos() / 1e3);
        document.put("read_us", result.readNanos() / 1e3);
        json.write(document, out());
    }

    private Duration patience() {
        double seconds = timeout != null ? timeout : server ? DEFAULT_SERVER_TIMEOUT : DEFAULT_TIMEOUT;
        return Duration.ofNanos((long) (seconds * 1e9));
    }

    private void tell(String line) {
        out().println(line);
        out().flush();
    }

    private void complain(String line) {
        err().println("rdmacomm copy-string: " + line);
        err().flush();
    }

    private ParameterException usage(String message) {
        return new ParameterException(spec().commandLine(), message);
    }
}
