package io.rdmacomm.cli;

import picocli.CommandLine.Option;

/// Where a server listens.
final class ListenOptions {
    @Option(
            names = "--bind",
            paramLabel = "ADDRESS",
            description = "With --server: the address to listen on; all without it.")
    private String bind = "";

    @Option(
            names = {"-p", "--port"},
            paramLabel = "PORT",
            description = "With --server: the TCP port to listen on (default: ${DEFAULT-VALUE}); 0 takes a free one.",
            defaultValue = "2020")
    private int port = PeerAddress.DEFAULT_PORT;

    String bind() {
        return bind;
    }

    int port() {
        return port;
    }
}
