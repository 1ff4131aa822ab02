package io.rdmacomm.nio.channel;

import io.rdmacomm.verbs.service.SystemSockets;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnsupportedAddressTypeException;
import org.jspecify.annotations.Nullable;

/// The protocol family that a program has opened a channel for.
///
/// @param name null for the system's default, which takes IPv4 and IPv6
public record Family(@Nullable ProtocolFamily name) {
    /// A channel was opened without a family.
    public static final Family ANY = new Family(null);

    /// A channel of the JDK of this family.
    SocketChannel openSocket() throws IOException {
        return name == null ? SystemSockets.openSocket() : SystemSockets.openSocket(name);
    }

    /// A listening channel of the JDK of this family.
    ServerSocketChannel openServerSocket() throws IOException {
        return name == null ? SystemSockets.openServerSocket() : SystemSockets.openServerSocket(name);
    }

    /// Checks an address as the channels of the JDK do.
    ///
    /// @throws UnsupportedAddressTypeException if it does not belong to this family
    /// @throws java.nio.channels.UnresolvedAddressException if its host name has no address
    InetSocketAddress checked(SocketAddress address) {
        InetSocketAddress internet = Addresses.checked(address);
        if (name == StandardProtocolFamily.INET && !(internet.getAddress() instanceof Inet4Address)) {
            throw new UnsupportedAddressTypeException();
        }
        return internet;
    }

    /// The local address of a channel that is not bound.
    InetSocketAddress unspecified() {
        return name == StandardProtocolFamily.INET
                ? new InetSocketAddress(InetAddress.ofLiteral("0.0.0.0"), 0)
                : new InetSocketAddress(0);
    }
}
