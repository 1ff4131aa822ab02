package io.rdmacomm.nio.channel;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.Objects;

/// The addresses that channels take.
final class Addresses {
    private Addresses() {}

    /// Checks an address as the channels of the JDK do.
    ///
    /// @throws UnsupportedAddressTypeException if it is none of the internet
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

    /// Where a connection to an address goes: the wildcard address means this host.
    static InetSocketAddress remote(InetSocketAddress address) throws UnknownHostException {
        InetAddress host = address.getAddress();
        if (!host.isAnyLocalAddress()) {
            return address;
        }
        byte[] loopback = host instanceof Inet4Address ? new byte[] {127, 0, 0, 1} : new byte[16];
        loopback[loopback.length - 1] = 1;
        return new InetSocketAddress(InetAddress.getByAddress(loopback), address.getPort());
    }
}
