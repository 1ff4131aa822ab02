package io.rdmacomm.cli.command;

import io.rdmacomm.verbs.DeviceChoice;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/// The address of a server: `HOST`, `HOST:PORT`, `[IPV6]:PORT` or `IPV6`.
///
/// @param host a name or an address
/// @param givenPort the TCP port; 0 if none was given
public record PeerAddress(String host, int givenPort) {
    /// The default port, the same as in rdma_comm_core.
    public static final int DEFAULT_PORT = 2020;

    /// For picocli.
    public static final class Converter implements ITypeConverter<PeerAddress> {
        @Override
        public PeerAddress convert(String text) {
            return parse(text);
        }
    }

    public static PeerAddress parse(String text) {
        int colon = text.lastIndexOf(':');
        if (text.startsWith("[")) {
            int end = text.indexOf(']');
            if (end < 0) {
                throw wrong(text);
            }
            String rest = text.substring(end + 1);
            return new PeerAddress(text.substring(1, end), rest.isEmpty() ? 0 : port(text, rest.substring(1)));
        }
        // More than one colon and no brackets: an IPv6 address without a port.
        if (colon < 0 || text.indexOf(':') != colon) {
            return of(text, text, 0);
        }
        return of(text, text.substring(0, colon), port(text, text.substring(colon + 1)));
    }

    /// The TCP port.
    public int port() {
        return port(DEFAULT_PORT);
    }

    /// The TCP port, or `defaultPort` if none was given.
    public int port(int defaultPort) {
        return givenPort == 0 ? defaultPort : givenPort;
    }

    /// The address of this machine in packets to the server; the wildcard address if it is unknown.
    ///
    /// @param defaultPort the port of the server if none was given
    public InetAddress localAddress(int defaultPort) {
        return DeviceChoice.localAddress(new InetSocketAddress(host, port(defaultPort)));
    }

    private static PeerAddress of(String text, String host, int port) {
        if (host.isBlank() || host.chars().anyMatch(Character::isWhitespace)) {
            throw wrong(text);
        }
        return new PeerAddress(host, port);
    }

    private static int port(String text, String digits) {
        try {
            int port = Integer.parseInt(digits);
            if (port >= 1 && port <= 65535) {
                return port;
            }
        } catch (NumberFormatException _) {
            // Reported below.
        }
        throw wrong(text);
    }

    private static TypeConversionException wrong(String text) {
        return new TypeConversionException(
                "'" + text + "' is not a valid address: write HOST or HOST:PORT, with a port from 1 to 65535");
    }

    @Override
    public String toString() {
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + port();
    }
}
