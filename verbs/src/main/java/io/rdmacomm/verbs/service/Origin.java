package io.rdmacomm.verbs.service;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// The source of connections that share a limit: an IPv4 address or an IPv6 network. A host chooses its IPv6
/// addresses among the 2^64 of its network (RFC 4862), so limits for single addresses would have no effect.
///
/// @param network the first 8 bytes of an IPv6 address; 0 for IPv4
/// @param host the last 8 bytes, which are 0 for an IPv6 network; those of an IPv4 address as IPv6 maps it
///         (RFC 4291 2.5.5.2)
public record Origin(long network, long host) {
    private static final long MAPPED = 0xffff_0000_0000L;

    /// The origin of connections from an address.
    public static Origin of(InetAddress address) {
        ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
        if (address instanceof Inet4Address) {
            return new Origin(0, MAPPED | Integer.toUnsignedLong(bytes.getInt()));
        }
        return new Origin(bytes.getLong(), address.isLoopbackAddress() ? bytes.getLong() : 0);
    }

    // Written out for a faster start, like the lambdas (docs/decisions/0092-lambdas-become-classes.md).
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Origin origin && network == origin.network && host == origin.host;
    }

    @Override
    public int hashCode() {
        return 31 * Long.hashCode(network) + Long.hashCode(host);
    }
}
