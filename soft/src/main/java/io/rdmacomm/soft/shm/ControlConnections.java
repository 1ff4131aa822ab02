package io.rdmacomm.soft.shm;

import io.rdmacomm.soft.transport.AcceptPause;
import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.service.SystemSockets;
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
import org.jspecify.annotations.Nullable;

/// The socket in a context's folder, and the connections that peers have made to it. Receives their [ShmMessage]s.
/// Only for the engine's thread.
final class ControlConnections implements Engine.Ready, AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.of(ControlConnections.class);
    private static final int BACKLOG = 1024;
    private static final int BATCH = 64;

    /// Handles messages; on the engine's thread.
    interface Receiver {
        /// A context has connected to this one.
        ///
        /// @return that context, null if this one cannot connect to it
        @Nullable
        ShmPeer onHello(Gid gid, int lid);

        /// Any other message.
        void onMessage(int type, int number, long first, long second);

        /// The connection of a context has ended.
        void onEnd(ShmPeer peer);
    }

    private final Engine engine;
    private final Receiver receiver;
    private final ServerSocketChannel server;
    private final AcceptPause pause = new AcceptPause();
    private final ByteBuffer buffer =
            ByteBuffer.allocateDirect(ShmMessage.BYTES * BATCH).order(ByteOrder.nativeOrder());

    private ControlConnections(ServerSocketChannel server, Engine engine, Receiver receiver) {
        this.server = server;
        this.engine = engine;
        this.receiver = receiver;
    }

    /// Listens at `path` until it, or the engine, is closed.
    ///
    /// @throws IOException if the socket cannot be made
    static ControlConnections listen(Path path, Engine engine, Receiver receiver) throws IOException {
        ServerSocketChannel server = SystemSockets.openServerSocket(StandardProtocolFamily.UNIX);
        boolean listening = false;
        try {
            server.configureBlocking(false);
            server.bind(UnixDomainSocketAddress.of(path), BACKLOG);
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));
            ControlConnections connections = new ControlConnections(server, engine, receiver);
            engine.register(server, SelectionKey.OP_ACCEPT, connections);
            listening = true;
            return connections;
        } finally {
            if (!listening) {
                server.close();
            }
        }
    }

    /// Accepts a connection.
    @Override
    public void ready(SelectionKey key) {
        SocketChannel accepted = null;
        try {
            accepted = server.accept();
            if (accepted != null) {
                accepted.configureBlocking(false);
                engine.register(accepted, SelectionKey.OP_READ, new Connection(accepted));
            }
        } catch (IOException | RuntimeException | Error e) {
            LOGGER.log(System.Logger.Level.DEBUG, "cannot take a connection now", e);
            close(accepted);
            pause.begin(key);
        }
    }

    private static void close(@Nullable SocketChannel channel) {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "closing a connection", e);
        }
    }

    /// Ends a pause in accepting connections if it is over; on the engine's thread.
    ///
    /// @return nanoseconds until the next call is due
    long onTime() {
        return pause.endIfOver();
    }

    /// Stops listening.
    @Override
    public void close() throws IOException {
        server.close();
    }

    /// A connection that a peer has made.
    private final class Connection implements Engine.Ready {
        private final SocketChannel channel;
        private final ByteBuffer partial = ByteBuffer.allocate(ShmMessage.BYTES).order(ByteOrder.nativeOrder());
        private @Nullable ShmPeer owner;

        Connection(SocketChannel channel) {
            this.channel = channel;
        }

        @Override
        public void ready(SelectionKey key) {
            buffer.clear();
            if (!read()) {
                close(channel);
                ShmPeer gone = owner;
                if (gone != null) {
                    receiver.onEnd(gone);
                }
                return;
            }
            buffer.flip();
            while (buffer.hasRemaining()) {
                partial.put(buffer.get());
                if (!partial.hasRemaining()) {
                    partial.flip();
                    take(partial.getInt(), partial.getInt(), partial.getLong(), partial.getLong());
                    partial.clear();
                }
            }
        }

        /// @return false if the connection has ended
        private boolean read() {
            try {
                return channel.read(buffer) >= 0;
            } catch (IOException e) {
                return false;
            }
        }

        /// A message that fails does not prevent the next ones, which are about other queues.
        private void take(int type, int number, long first, long second) {
            try {
                if (type == ShmMessage.HELLO) {
                    owner = receiver.onHello(new Gid(first, second), number);
                } else {
                    receiver.onMessage(type, number, first, second);
                }
            } catch (RuntimeException | Error e) {
                engine.report(e);
            }
        }
    }
}
