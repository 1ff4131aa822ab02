package io.rdmacomm.tests.nio;

import io.rdmacomm.nio.RdmaSelectorProvider;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// Echoes what arrives, with one selector and one thread. The first byte of a connection says how the server ends it;
/// it is not echoed. A failure of a connection closes that connection, and any other one is a [#failure()].
public final class EchoServer implements AutoCloseable {
    /// How the server ends a connection.
    public enum End {
        /// When the stream has ended.
        ORDERLY,
        /// After the first bytes.
        EARLY,
        /// As [#EARLY], with a reset.
        RESET,
        /// As [#EARLY]: the key is cancelled, and another thread closes the channel at the same time.
        CANCEL;

        /// Its byte on the wire.
        byte code() {
            return (byte) name().charAt(0);
        }

        static End of(byte code) {
            for (End each : values()) {
                if (each.code() == code) {
                    return each;
                }
            }
            throw new IllegalArgumentException("no end has the code " + code);
        }
    }

    /// Takes what a key is ready for.
    interface Handler {
        void ready(SelectionKey key) throws IOException;
    }

    private static final int BUFFER_BYTES = 16 << 10;
    private static final long END_MILLIS = 30_000;

    private final RdmaSelectorProvider provider;
    private final Selector selector;
    private final ServerSocketChannel listening;
    private final Thread thread;
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    private EchoServer(String device) throws IOException {
        this.provider = RdmaSelectorProvider.of(device, "*");
        this.selector = provider.openSelector();
        this.listening = Sockets.listen(provider);
        listening.configureBlocking(false);
        listening.register(selector, SelectionKey.OP_ACCEPT, (Handler) _ -> accept());
        this.thread = Thread.ofPlatform().daemon().name("echo server").unstarted(this::serve);
    }

    /// Starts one.
    ///
    /// @param device the name of the RDMA device
    public static EchoServer start(String device) {
        try {
            EchoServer server = new EchoServer(device);
            server.thread.start();
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// The port that it listens at.
    public int port() {
        return listening.socket().getLocalPort();
    }

    SelectorProvider provider() {
        return provider;
    }

    Selector selector() {
        return selector;
    }

    /// The keys of connections.
    public int connections() {
        return selector.keys().size() - 1;
    }

    /// What was thrown by a select, or is no failure of a connection; null if nothing was.
    public @Nullable Throwable failure() {
        return failure.get();
    }

    private void serve() {
        try {
            for (long i = 0; selector.isOpen(); i++) {
                if (i % 2 == 0) {
                    selector.select(EchoServer::ready);
                } else {
                    selector.select();
                    Set<SelectionKey> selected = selector.selectedKeys();
                    selected.forEach(EchoServer::ready);
                    selected.clear();
                }
            }
        } catch (ClosedSelectorException e) {
            // The server was closed.
        } catch (IOException | RuntimeException | Error e) {
            failure.set(e);
        }
    }

    private static void ready(SelectionKey key) {
        try {
            ((Handler) key.attachment()).ready(key);
        } catch (IOException | CancelledKeyException e) {
            close(key);
        }
    }

    private static void close(SelectionKey key) {
        try {
            key.channel().close();
        } catch (IOException e) {
            throw new AssertionError("close of " + key.channel(), e);
        }
    }

    private void accept() throws IOException {
        SocketChannel accepted = listening.accept();
        if (accepted != null) {
            accepted.configureBlocking(false);
            accepted.register(selector, SelectionKey.OP_READ, new Echo());
        }
    }

    private static final class Echo implements Handler {
        private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES).limit(0);
        private @Nullable End end;

        @Override
        public void ready(SelectionKey key) throws IOException {
            SocketChannel channel = (SocketChannel) key.channel();
            if (!buffer.hasRemaining()) {
                if (channel.read(buffer.clear()) < 0) {
                    channel.close();
                    return;
                }
                buffer.flip();
            }
            if (end == null && buffer.hasRemaining()) {
                end = End.of(buffer.get());
            }
            boolean first = buffer.hasRemaining();
            channel.write(buffer);
            if (first && end != End.ORDERLY) {
                end(key, channel);
            } else {
                key.interestOps(buffer.hasRemaining() ? SelectionKey.OP_WRITE : SelectionKey.OP_READ);
            }
        }

        private void end(SelectionKey key, SocketChannel channel) throws IOException {
            if (end == End.CANCEL) {
                Thread.ofVirtual().start(() -> close(key));
                key.cancel();
                return;
            }
            if (end == End.RESET) {
                channel.setOption(StandardSocketOptions.SO_LINGER, 0);
            }
            channel.close();
        }
    }

    /// Closes it with all its connections and its device, and waits for its thread.
    @Override
    public void close() throws IOException {
        selector.close();
        listening.close();
        try {
            if (!thread.join(Duration.ofMillis(END_MILLIS))) {
                throw new AssertionError("the echo server does not end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        provider.close();
    }
}
