package io.rdmacomm.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Where a server listens.
final class ListenOptions {
    @Option(
            names = "--bind",
            paramLabel = "ADDRESS",
            description = "The address to listen on, for a server; all without it.")
    private String bind = "";

    @Option(
            names = {"-p", "--port"},
            paramLabel = "PORT",
            description = "With --server: the TCP port to listen on (default: 2020); 0 takes a free one.")
    private @Nullable Integer port;

    String bind() {
        return bind;
    }

    int port() {
        return port(PeerAddress.DEFAULT_PORT);
    }

    /// The port, or `otherwise` when none was said.
    int port(int otherwise) {
        return port == null ? otherwise : port;
    }
}
