package io.rdmacomm.cli;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Where a server listens.
final class ListenOptions {
    @Option(
            names = "--bind",
            paramLabel = "ADDRESS",
            description = "The address that a server listens on (default: all addresses).")
    private String bind = "";

    @Option(
            names = {"-p", "--port"},
            paramLabel = "PORT",
            description = "The port that a server listens on; 0 picks a free one (default: 2020 unless noted).")
    private @Nullable Integer port;

    /// The address; empty for all addresses.
    String bind() {
        return bind;
    }

    int port() {
        return port(PeerAddress.DEFAULT_PORT);
    }

    /// The port, or `defaultPort` if none was given.
    int port(int defaultPort) {
        return port == null ? defaultPort : port;
    }

    /// The address that a server listens on; the wildcard address also if the given name is unknown.
    InetAddress localAddress() {
        InetAddress given = socketAddress(0).getAddress();
        return given == null ? new InetSocketAddress(0).getAddress() : given;
    }

    /// The address and the port, or `defaultPort` if none was given.
    InetSocketAddress socketAddress(int defaultPort) {
        return bind.isEmpty()
                ? new InetSocketAddress(port(defaultPort))
                : new InetSocketAddress(bind, port(defaultPort));
    }
}
