package io.rdmacomm.soft.cm;

import io.rdmacomm.verbs.cm.IdentifierOptions;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.util.OptionalInt;

/// The options of the sockets that carry connections.
final class SocketOptions {
    private SocketOptions() {}

    /// Sets no delay, and the type of service of the identifier. Java sets the IPv6 traffic class with the same
    /// option.
    static void set(SocketChannel channel, IdentifierOptions options) throws IOException {
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        OptionalInt type = options.typeOfService();
        if (type.isPresent()) {
            channel.setOption(StandardSocketOptions.IP_TOS, type.getAsInt());
        }
    }

    /// Binds to the local address of the identifier, if it has one. The port may be reused while the kernel still
    /// remembers its last connection, as with adapters.
    static void bind(SocketChannel channel, IdentifierOptions options) throws IOException {
        InetSocketAddress local = options.localAddress();
        if (local != null) {
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            channel.bind(local);
        }
    }
}
