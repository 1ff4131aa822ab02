package io.rdmacomm.nio.channel;

import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.service.SystemSockets;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.DatagramChannel;

/// Which addresses are reached through an RDMA device: those to which the host sends from an address of the
/// device.
final class DeviceNetworks {
    private static final int FIRST_PORT = 1;
    private static final int ANY_PORT = 1;

    private DeviceNetworks() {}

    /// Whether an address can be on a network: one of the loopback interface is not, and the wildcard address is
    /// on all.
    static boolean isNetworkAddress(InetAddress address) {
        return !address.isLoopbackAddress() && !address.isAnyLocalAddress();
    }

    /// Asks the kernel for the route: a connected datagram socket has the address that this host would use.
    /// Nothing is
    /// sent.
    ///
    /// @throws IOException if there is no route
    static boolean isReachedThrough(Context device, InetAddress address) throws IOException {
        try (DatagramChannel probe = SystemSockets.openDatagramSocket()) {
            probe.connect(new InetSocketAddress(address, ANY_PORT));
            InetSocketAddress local = (InetSocketAddress) probe.getLocalAddress();
            return device.hasAddress(FIRST_PORT, local.getAddress());
        }
    }
}
