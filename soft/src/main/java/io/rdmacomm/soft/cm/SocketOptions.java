package io.rdmacomm.soft.cm;

import io.rdmacomm.verbs.cm.IdentifierOptions;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.util.OptionalInt;

/// The options of the sockets that carry connections.
final class SocketOptions {
    private SocketOptions() {}

    /// Sends without delay, and with the type of service of the identifier. Java sets the IPv6 traffic
    /// class with the same option.
    static void set(SocketChannel channel, IdentifierOptions options) throws IOException {
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        OptionalInt type = options.typeOfService();
        if (type.isPresent()) {
            channel.setOption(StandardSocketOptions.IP_TOS, type.getAsInt());
        }
    }
}
