package io.rdmacomm.soft.tcp;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;

/// How much TCP holds of what a link sends.
///
/// Between two processes of one host nothing is ever on its way: what TCP has taken lies in the receiver's queue.
/// Left alone, Linux lets that grow to megabytes (tcp(7), tcp_wmem), and then each byte leaves the processor's
/// cache between the copy in and the copy out. A short queue stays in it, see decision 17. To another host the
/// limit would be one of the line, so there the system decides.
final class SendBuffer {
    /// Linux takes twice as much, for its own part (socket(7), SO_SNDBUF).
    private static final int BYTES = 256 * 1024;

    private SendBuffer() {}

    /// Keeps what waits in the socket short where that makes a stream faster.
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
