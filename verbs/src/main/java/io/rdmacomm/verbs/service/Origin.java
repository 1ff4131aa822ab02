package io.rdmacomm.verbs.service;

import io.rdmacomm.verbs.Gid;
import java.net.Inet4Address;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/// The source of connections that share a limit: an IPv4 address or an IPv6 network. A host chooses its IPv6
/// addresses among the 2^64 of its network (RFC 4862), so limits for single addresses would have no effect.
///
/// @param network the first 8 bytes
/// @param host the last 8 bytes; 0 for an IPv6 network
public record Origin(long network, long host) {
    /// The origin of connections from an address.
    public static Origin of(InetAddress address) {
        Gid gid = Gid.of(address);
        return new Origin(gid.high(), address instanceof Inet4Address || address.isLoopbackAddress() ? gid.low() : 0);
    }

    // Written out for the sake of the start, like the lambdas (docs/decisions/0092-lambdas-become-classes.md).
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Origin origin && network == origin.network && host == origin.host;
    }

    @Override
    public int hashCode() {
        return 31 * Long.hashCode(network) + Long.hashCode(host);
    }
}
