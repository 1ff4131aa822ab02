package io.rdmacomm.soft.transport;

import java.io.IOException;
import java.nio.channels.DatagramChannel;

/// The socket of an address handle for a multicast group. It has the handle's hop limit.
///
/// @param channel not blocking, and not connected
/// @param port its UDP port
public record GroupSocket(DatagramChannel channel, int port) implements AutoCloseable {
    @Override
    public void close() throws IOException {
        channel.close();
    }
}
