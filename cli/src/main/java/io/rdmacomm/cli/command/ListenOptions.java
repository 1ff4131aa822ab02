package io.rdmacomm.cli.command;

import io.rdmacomm.comm.SessionOptions;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// The options for where a server listens, and the line that reports it.
public final class ListenOptions {
    /// The host that stands for all addresses, as in [SessionOptions#withHost].
    public static final String ALL_ADDRESSES = "*";

    private static final String ANY_CLIENT = "any client";

    @Option(
            names = "--bind",
            paramLabel = "ADDRESS",
            description = "The address that a server listens on (default: all addresses).")
    private String bind = ALL_ADDRESSES;

    @Option(
            names = {"-p", "--port"},
            paramLabel = "PORT",
            description = "The port of the server; 0 lets a server pick a free one (default: 2020 unless noted).")
    private @Nullable Integer port;

    /// The address, in the form of [SessionOptions#withHost].
    public String bind() {
        return bind;
    }

    /// Whether an address was given.
    public boolean isBound() {
        return !bind.equals(ALL_ADDRESSES);
    }

    /// `options` for a server that listens there.
    public SessionOptions apply(SessionOptions options) {
        return options.withAddress(bind, port());
    }

    public int port() {
        return port(PeerAddress.DEFAULT_PORT);
    }

    /// The port, or `defaultPort` if none was given.
    public int port(int defaultPort) {
        return port == null ? defaultPort : port;
    }

    /// The address that a server listens on; the wildcard address if none was given or the name is unknown.
    public InetAddress localAddress() {
        InetAddress given = socketAddress(0).getAddress();
        return given == null ? new InetSocketAddress(0).getAddress() : given;
    }

    /// The address and the port, or `defaultPort` if none was given.
    public InetSocketAddress socketAddress(int defaultPort) {
        return isBound() ? new InetSocketAddress(bind, port(defaultPort)) : new InetSocketAddress(port(defaultPort));
    }

    /// The line of a server that uses neither a secret nor TLS.
    ///
    /// @param actual the port that it listens on
    public String line(int actual) {
        return line(actual, ANY_CLIENT);
    }

    /// The line of a server whose session has these options.
    ///
    /// @param actual the port that it listens on
    public String line(int actual, SessionOptions options) {
        boolean secret = options.secret() != null;
        if (options.tls() == null) {
            return line(actual, secret ? "clients with the secret" : ANY_CLIENT);
        }
        return line(actual, "clients with a trusted certificate" + (secret ? " and the secret" : ""));
    }

    private String line(int actual, String who) {
        String where = isBound() ? bind.isEmpty() ? "localhost" : bind : "all addresses";
        return ChildServer.READY + actual + " of " + where + "; " + who + " may connect";
    }
}
