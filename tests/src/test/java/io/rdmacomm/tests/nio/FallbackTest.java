package io.rdmacomm.tests.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rdmacomm.nio.RdmaSelectorProvider;
import io.rdmacomm.tests.fixture.LeakCheck;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/// Rules that begin with `?`: RDMA, and TCP if that fails.
@ExtendWith(LeakCheck.class)
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class FallbackTest {
    private static final byte REQUEST = 7;
    private static final int TIMEOUT_SECONDS = 30;

    private final RdmaSelectorProvider provider = RdmaSelectorProvider.of("soft0", "?*");

    @AfterEach
    void close() {
        provider.close();
    }

    /// A server of the JDK that ends a connection that does not begin with its request, and echoes that.
    private static final class TcpServer implements AutoCloseable {
        private final ServerSocketChannel listening = Sockets.listen(SelectorProvider.provider());
        private final CountDownLatch called = new CountDownLatch(1);
        private final Thread thread;

        TcpServer(boolean answers) throws IOException {
            thread = Thread.ofPlatform().daemon().start(() -> serve(answers));
        }

        private void serve(boolean answers) {
            try {
                while (true) {
                    try (SocketChannel accepted = listening.accept()) {
                        ByteBuffer bytes = ByteBuffer.allocate(1);
                        int count = accepted.read(bytes);
                        called.countDown();
                        if (!answers) {
                            readAll(accepted);
                        } else if (count == 1 && bytes.get(0) == REQUEST) {
                            accepted.write(bytes.flip());
                        }
                    }
                }
            } catch (IOException e) {
                // Closed.
            }
        }

        private static void readAll(SocketChannel accepted) throws IOException {
            ByteBuffer bytes = ByteBuffer.allocate(100);
            while (accepted.read(bytes.clear()) >= 0) {
                assertThat(bytes.position()).isPositive();
            }
        }

        SocketAddress address() throws IOException {
            return listening.getLocalAddress();
        }

        @Override
        public void close() throws IOException {
            listening.close();
            thread.interrupt();
        }
    }

    private static void exchange(SocketChannel channel) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(new byte[] {REQUEST});
        assertThat(channel.write(bytes)).isEqualTo(1);
        assertThat(channel.read(bytes.clear())).isEqualTo(1);
        assertThat(bytes.get(0)).isEqualTo(REQUEST);
    }

    private static boolean isRdma(SocketChannel channel) {
        return channel.toString().contains("Rdma");
    }

    @Test
    void aServerWithoutRdmaIsReachedByTcp() throws Exception {
        try (TcpServer server = new TcpServer(true);
                SocketChannel channel = provider.openSocketChannel()) {
            assertThat(channel.connect(server.address())).isTrue();
            exchange(channel);
            assertThat(isRdma(channel)).isFalse();
            assertThat(channel.getRemoteAddress()).isEqualTo(server.address());
        }
    }

    @Test
    void aSelectorSeesTheConnection() throws Exception {
        try (TcpServer server = new TcpServer(true);
                Selector selector = provider.openSelector();
                SocketChannel channel = provider.openSocketChannel()) {
            channel.configureBlocking(false);
            SelectionKey key = channel.register(selector, SelectionKey.OP_CONNECT);
            assertThat(channel.connect(server.address())).isFalse();
            assertThat(selector.select()).isEqualTo(1);
            assertThat(key.isConnectable()).isTrue();
            assertThat(channel.finishConnect()).isTrue();
            selector.selectedKeys().clear();
            key.interestOps(SelectionKey.OP_WRITE);
            assertThat(selector.select()).isEqualTo(1);
            assertThat(channel.write(ByteBuffer.wrap(new byte[] {REQUEST}))).isEqualTo(1);
            selector.selectedKeys().clear();
            key.interestOps(SelectionKey.OP_READ);
            assertThat(selector.select()).isEqualTo(1);
            assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(1);
        }
    }

    @Test
    void aServerWithRdmaIsReachedByRdma() throws Exception {
        try (ServerSocketChannel server = Sockets.listen(provider);
                SocketChannel channel = provider.openSocketChannel()) {
            channel.connect(server.getLocalAddress());
            assertThat(isRdma(channel)).isTrue();
            assertThat(isRdma(server.accept())).isTrue();
        }
    }

    @Test
    void withoutADeviceAllIsTcp() throws Exception {
        try (RdmaSelectorProvider without = RdmaSelectorProvider.of("soft9none", "?*");
                ServerSocketChannel server = Sockets.listen(without);
                SocketChannel channel = without.openSocketChannel()) {
            channel.connect(server.getLocalAddress());
            assertThat(isRdma(channel)).isFalse();
            server.accept().close();
        }
    }

    @Test
    void withoutAServerTheConnectionIsRefused() throws Exception {
        SocketAddress nobody;
        try (ServerSocketChannel server = Sockets.listen(provider)) {
            nobody = server.getLocalAddress();
        }
        try (SocketChannel channel = provider.openSocketChannel()) {
            assertThatExceptionOfType(ConnectException.class).isThrownBy(() -> channel.connect(nobody));
            assertThat(channel.isOpen()).isFalse();
        }
    }

    @Test
    void aServerThatDoesNotAnswerIsReachedByTcpInTheEnd() throws Exception {
        try (TcpServer server = new TcpServer(false);
                SocketChannel channel = provider.openSocketChannel()) {
            assertThat(channel.connect(server.address())).isTrue();
            assertThat(isRdma(channel)).isFalse();
        }
    }

    @Test
    void aCloseEndsTheAttempt() throws Exception {
        try (TcpServer server = new TcpServer(false)) {
            SocketChannel channel = provider.openSocketChannel();
            FutureTask<Boolean> connecting = new FutureTask<>(() -> channel.connect(server.address()));
            Thread.ofPlatform().daemon().start(connecting);
            server.called.await();
            channel.close();
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(() -> connecting.get(TIMEOUT_SECONDS, TimeUnit.SECONDS))
                    .withCauseInstanceOf(AsynchronousCloseException.class);
            assertThatExceptionOfType(ClosedChannelException.class).isThrownBy(channel::finishConnect);
        }
    }

    @Test
    void aClosedProviderIsNoReasonForTcp() throws Exception {
        provider.close();
        try (SocketChannel channel = provider.openSocketChannel()) {
            assertThatExceptionOfType(SocketException.class)
                    .isThrownBy(() -> channel.connect(Sockets.anyPort()))
                    .withMessageContaining("closed");
        }
    }
}
