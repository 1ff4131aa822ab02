package io.rdmacomm.soft.cm;

import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.AddressUnresolvedException;
import io.rdmacomm.verbs.cm.RouteUnresolvedException;
import io.rdmacomm.verbs.service.SystemSockets;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.DatagramChannel;
import org.jspecify.annotations.Nullable;

/// Asks the kernel for the route to a peer: a connected datagram socket has the local address that would be used.
/// Sends nothing.
public final class RouteProbe {
    private static final int ANY_PORT = 1;

    private RouteProbe() {}

    /// The address that this host uses to reach a peer.
    ///
    /// @param wanted the address to connect from; null for any
    /// @throws VerbException if there is no such address or route
    public static InetSocketAddress localAddress(InetSocketAddress destination, @Nullable InetSocketAddress wanted) {
        String operation = "resolve address (rdma_resolve_addr)";
        if (destination.getPort() == 0) {
            throw new AddressUnresolvedException(
                    operation, Errno.EINVAL, destination + " has no port; name the one that the peer listens at");
        }
        try (DatagramChannel probe = openProbe(operation)) {
            bind(probe, wanted);
            probe.connect(new InetSocketAddress(destination.getAddress(), ANY_PORT));
            return (InetSocketAddress) probe.getLocalAddress();
        } catch (IOException e) {
            throw new RouteUnresolvedException(
                    "resolve route (rdma_resolve_route)",
                    Errno.ENETUNREACH,
                    "no route to " + destination + ": " + e.getMessage() + "; check the address and the routes");
        }
    }

    private static void bind(DatagramChannel probe, @Nullable InetSocketAddress local) {
        if (local == null) {
            return;
        }
        try {
            probe.bind(new InetSocketAddress(local.getAddress(), 0));
        } catch (IOException e) {
            throw new VerbException(
                    "bind (rdma_bind_addr)",
                    Errno.EADDRNOTAVAIL,
                    "cannot connect from " + local + ": " + e.getMessage() + "; use an address of this host",
                    e);
        }
    }

    private static DatagramChannel openProbe(String operation) {
        try {
            return SystemSockets.openDatagramSocket();
        } catch (IOException e) {
            throw new VerbException(
                    operation,
                    Errno.EMFILE,
                    "no socket to ask for the route: " + e.getMessage()
                            + "; raise the limit of open files (ulimit -n, sysctl fs.file-max)",
                    e);
        }
    }
}
