package io.rdmacomm.compare.peer;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/// The sockets of the JDK that several peers use.
final class Sockets {
    private Sockets() {}

    static SocketChannel accept(Task task) throws IOException {
        try (ServerSocketChannel listener = ServerSocketChannel.open().bind(address(task))) {
            return configured(listener.accept());
        }
    }

    static SocketChannel connect(Task task) throws IOException {
        return configured(SocketChannel.open(address(task)));
    }

    static InetSocketAddress address(Task task) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), task.port());
    }

    private static SocketChannel configured(SocketChannel channel) throws IOException {
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        return channel;
    }

    static void writeFully(SocketChannel channel, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    /// Fills `bytes`; in a non-blocking channel by polling.
    ///
    /// @return false if the peer has closed its side before the first byte
    static boolean readFully(SocketChannel channel, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            if (channel.read(bytes) < 0) {
                if (bytes.position() == 0) {
                    return false;
                }
                throw new EOFException("the connection ended inside a message");
            }
        }
        return true;
    }
}
