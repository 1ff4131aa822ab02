package io.rdmacomm.cli.rig;

import java.net.InetAddress;
import java.nio.ByteBuffer;

/// The source of connections that share a limit: an IPv4 address or an IPv6 network. A host chooses its IPv6 addresses
/// among the 2^64 of its network (RFC 4862), so limits for single addresses would have no effect.
///
/// @param bytes of the address, or of its network
public record ClientOrigin(ByteBuffer bytes) {
    private static final int NETWORK_BYTES = 8;

    /// The origin of connections from an address.
    public static ClientOrigin of(InetAddress address) {
        ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
        return new ClientOrigin(
                address.isLoopbackAddress() ? bytes : bytes.limit(Math.min(bytes.limit(), NETWORK_BYTES)));
    }
}
