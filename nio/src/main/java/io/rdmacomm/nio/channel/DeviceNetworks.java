package io.rdmacomm.nio.channel;

import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.DeviceChoice;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/// Which addresses are reached through an RDMA device: those to which the host sends from an address of the
/// device.
final class DeviceNetworks {
    private static final int FIRST_PORT = 1;
    private static final int ANY_PORT = 1;

    private DeviceNetworks() {}

    /// Whether an address is on one network. A loopback address is on none, the wildcard address on all.
    static boolean isNetworkAddress(InetAddress address) {
        return !address.isLoopbackAddress() && !address.isAnyLocalAddress();
    }

    /// Whether this host sends to an address from an address of the device.
    static boolean isReachedThrough(Context device, InetAddress address) {
        InetAddress local = DeviceChoice.localAddress(new InetSocketAddress(address, ANY_PORT));
        return device.hasAddress(FIRST_PORT, local);
    }
}
