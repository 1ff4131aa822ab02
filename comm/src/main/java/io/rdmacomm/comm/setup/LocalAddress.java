package io.rdmacomm.comm.setup;

import io.rdmacomm.verbs.DeviceChoice;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/// The source address of this host in packets to another host.
public final class LocalAddress {
    private LocalAddress() {}

    /// Looks it up in the routing table; nothing is sent.
    ///
    /// @param host a name or an address; empty for this host
    /// @return the wildcard address if the host is unknown or there is no route to it
    public static InetAddress towards(String host, int port, Duration timeout) {
        try {
            InetAddress remote = HostNames.resolve(host, System.nanoTime() + timeout.toNanos())
                    .getFirst();
            return DeviceChoice.localAddress(new InetSocketAddress(remote, port));
        } catch (SetupException e) {
            // Connecting will also fail and report the reason.
            return new InetSocketAddress(0).getAddress();
        }
    }
}
