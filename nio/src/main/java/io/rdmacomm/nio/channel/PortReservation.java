package io.rdmacomm.nio.channel;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;

/// The local address that a socket was bound to. A channel of the JDK holds it until the socket connects: only then
/// is it known whether the connection belongs to the device. Thread-safe.
final class PortReservation implements AutoCloseable {
    private final SocketChannel channel;
    private final InetSocketAddress address;

    private PortReservation(SocketChannel channel) throws IOException {
        this.channel = channel;
        this.address = (InetSocketAddress) channel.getLocalAddress();
    }

    /// Reserves an address.
    ///
    /// @throws java.net.BindException if it is in use, or not one of this host
    static PortReservation make(Family family, InetSocketAddress wanted, SocketOptionValues options)
            throws IOException {
        SocketChannel channel = family.openSocket();
        boolean bound = false;
        try {
            options.applyTo(channel);
            PortReservation reservation = new PortReservation(channel.bind(wanted));
            bound = true;
            return reservation;
        } finally {
            if (!bound) {
                channel.close();
            }
        }
    }

    /// The address, with the actual port.
    InetSocketAddress address() {
        return address;
    }

    /// The channel of the JDK that has the address.
    SocketChannel channel() {
        return channel;
    }

    /// Releases the address.
    ///
    /// @return the address, for a connection to a peer
    InetSocketAddress release(InetAddress peer) throws IOException {
        channel.close();
        // A socket of the JDK uses the IPv6 wildcard address for both families.
        return address.getAddress().isAnyLocalAddress() ? Addresses.wildcard(peer, address.getPort()) : address;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
