package io.rdmacomm.comm.setup;

import io.rdmacomm.verbs.Gid;
import java.net.Inet4Address;
import java.net.InetAddress;

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
}
