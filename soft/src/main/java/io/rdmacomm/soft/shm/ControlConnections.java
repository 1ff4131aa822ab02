package io.rdmacomm.soft.shm;

import io.rdmacomm.soft.transport.Engine;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/// The socket in a context's folder, and the connections that peers have made to it: receives their [Message]s. The
/// engine.
final class ControlConnections {
    private static final int BACKLOG = 1024;
    private static final int BATCH = 64;

    /// Takes messages; the engine.
    interface Receiver {
        void onMessage(int type, int number, long first, long second);
    }

    private final Engine engine;
    private final Receiver receiver;
    private final ServerSocketChannel server;
    private final ByteBuffer buffer =
            ByteBuffer.allocateDirect(Message.BYTES * BATCH).order(ByteOrder.nativeOrder());

    private ControlConnections(ServerSocketChannel server, Engine engine, Receiver receiver) {
        this.server = server;
        this.engine = engine;
        this.receiver = receiver;
    }

    /// Listens at `path` until the engine is closed.
    ///
    /// @throws IOException if the socket cannot be made
    static void listen(Path path, Engine engine, Receiver receiver) throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            server.configureBlocking(false);
            server.bind(UnixDomainSocketAddress.of(path), BACKLOG);
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));
            ControlConnections connections = new ControlConnections(server, engine, receiver);
            engine.register(server, SelectionKey.OP_ACCEPT, key -> connections.accept());
        } catch (IOException | RuntimeException e) {
            server.close();
            throw e;
        }
    }

    private void accept() throws IOException {
        SocketChannel accepted = server.accept();
        if (accepted != null) {
            accepted.configureBlocking(false);
            ByteBuffer partial = ByteBuffer.allocate(Message.BYTES).order(ByteOrder.nativeOrder());
            engine.register(accepted, SelectionKey.OP_READ, key -> receive(accepted, partial));
        }
    }

    private void receive(SocketChannel channel, ByteBuffer partial) throws IOException {
        buffer.clear();
        if (read(channel) < 0) {
            channel.close();
            return;
        }
        buffer.flip();
        while (buffer.hasRemaining()) {
            partial.put(buffer.get());
            if (!partial.hasRemaining()) {
                partial.flip();
                receiver.onMessage(partial.getInt(), partial.getInt(), partial.getLong(), partial.getLong());
                partial.clear();
            }
        }
    }

    private int read(SocketChannel channel) {
        try {
            return channel.read(buffer);
        } catch (IOException e) {
            return -1;
        }
    }
}
