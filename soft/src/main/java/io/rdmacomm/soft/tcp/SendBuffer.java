package io.rdmacomm.soft.tcp;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;

/// Limits how much of a link's data TCP buffers.
///
/// Between two processes of one host nothing is ever in flight: the receiver's queue holds all that TCP has taken. By
/// default, Linux lets it grow to megabytes (tcp(7), tcp_wmem), and then each byte leaves the processor's cache
/// between the copy in and the copy out. A short queue stays in the cache, see decision 17. To another host the limit
/// would also limit the bandwidth, so there the system decides.
final class SendBuffer {
    /// Linux doubles this for its own overhead (socket(7), SO_SNDBUF).
    private static final int BYTES = 256 * 1024;

    private SendBuffer() {}

    /// Limits the send buffer where that makes a stream faster.
    ///
    /// @param channel connected
    static void limit(SocketChannel channel) throws IOException {
        if (isOnOneHost(channel.getLocalAddress(), channel.getRemoteAddress())) {
            channel.setOption(StandardSocketOptions.SO_SNDBUF, BYTES);
        }
    }

    /// Whether both ends are known to be on this host.
    static boolean isOnOneHost(SocketAddress local, SocketAddress remote) {
        if (local instanceof InetSocketAddress here && remote instanceof InetSocketAddress there) {
            InetAddress peer = there.getAddress();
            return peer.isLoopbackAddress() || peer.equals(here.getAddress());
        }
        return false;
    }
}
