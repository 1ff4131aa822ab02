package io.rdmacomm.comm.setup;

import io.rdmacomm.verbs.Gid;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/// The address of this host in its packets to another one.
public final class LocalAddress {
    private LocalAddress() {}

    /// Looks it up in the routing table; nothing is sent.
    ///
    /// @param host a name or an address; empty for this host
    /// @return the address as a GID; [Gid#NONE] if the host is unknown or there is no way to it
    public static Gid towards(String host, int port, Duration timeout) {
        try (DatagramSocket socket = new DatagramSocket()) {
            InetAddress remote = HostNames.resolve(host, System.nanoTime() + timeout.toNanos())
                    .getFirst();
            socket.connect(new InetSocketAddress(remote, port));
            return of(socket.getLocalAddress());
        } catch (IOException | UncheckedIOException | SetUpException e) {
            // Connecting will fail too, and say why.
            return Gid.NONE;
        }
    }

    static Gid of(InetAddress address) {
        return address.isAnyLocalAddress() ? Gid.NONE : Gid.of(address);
    }
}
