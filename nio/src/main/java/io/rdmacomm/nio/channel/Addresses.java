package io.rdmacomm.nio.channel;

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
}
