package io.rdmacomm.nio.channel;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.Objects;

/// The addresses that channels take.
final class Addresses {
    private Addresses() {}

    /// Checks an address as the channels of the JDK do.
    ///
    /// @throws UnsupportedAddressTypeException if it is not an internet address
    /// @throws UnresolvedAddressException if its host name has no address
    static InetSocketAddress checked(SocketAddress address) {
        Objects.requireNonNull(address);
        if (!(address instanceof InetSocketAddress internet)) {
            throw new UnsupportedAddressTypeException();
        }
        if (internet.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
        return internet;
    }

    /// The address to connect to: the wildcard address means this host.
    static InetSocketAddress remote(InetSocketAddress address) {
        InetAddress host = address.getAddress();
        return host.isAnyLocalAddress() ? ofFamily(host, "127.0.0.1", "::1", address.getPort()) : address;
    }

    /// The wildcard address of the family of a peer.
    static InetSocketAddress wildcard(InetAddress peer, int port) {
        return ofFamily(peer, "0.0.0.0", "::", port);
    }

    private static InetSocketAddress ofFamily(InetAddress family, String ipv4, String ipv6, int port) {
        return new InetSocketAddress(InetAddress.ofLiteral(family instanceof Inet4Address ? ipv4 : ipv6), port);
    }
}
