package io.rdmacomm.tests.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.SleepingThreads;
import io.rdmacomm.tests.nio.Sockets.Pair;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/// Which exceptions the sockets of channels throw: those of the JDK.
@ParameterizedClass
@EnumSource(Sockets.class)
@Timeout(value = 1, unit = TimeUnit.MINUTES)
@ExtendWith(LeakCheck.class)
class SocketAdaptorTest {
    private static final int SHORT_MILLIS = 50;
    private static final int LONG_MILLIS = 30_000;

    private final SelectorProvider provider;

    SocketAdaptorTest(Sockets sockets) {
        this.provider = sockets.provider();
    }

    @AfterEach
    void close() {
        Sockets.close(provider);
    }

    private static void fails(Class<? extends Throwable> type, ThrowingCallable call) {
        assertThatThrownBy(call).isExactlyInstanceOf(type);
    }

    /// Does something when this thread waits in a call of a channel.
    private static void later(AutoCloseable action) {
        Thread caller = Thread.currentThread();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                Deadline.await("a call of a channel waits", () -> waitsInChannel(caller));
                action.close();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
    }

    private static boolean waitsInChannel(Thread thread) {
        return SleepingThreads.isAsleep(thread)
                && Arrays.stream(thread.getStackTrace())
                        .map(StackTraceElement::getClassName)
                        .anyMatch(name -> name.startsWith("sun.nio.ch.") || name.startsWith("io.rdmacomm.nio."));
    }

    @Test
    void aCloseEndsAReadOfASocket() throws Exception {
        for (int timeout : new int[] {0, LONG_MILLIS}) {
            try (Pair pair = Pair.connect(provider)) {
                Socket socket = pair.client().socket();
                socket.setSoTimeout(timeout);
                InputStream input = socket.getInputStream();
                later(pair.client());
                fails(AsynchronousCloseException.class, input::read);
                assertThat(socket.isClosed()).isTrue();
            }
        }
    }

    @Test
    void anInterruptEndsAReadOfASocket() throws Exception {
        for (int timeout : new int[] {0, LONG_MILLIS}) {
            try (Pair pair = Pair.connect(provider)) {
                Socket socket = pair.client().socket();
                socket.setSoTimeout(timeout);
                InputStream input = socket.getInputStream();
                later(Thread.currentThread()::interrupt);
                fails(ClosedByInterruptException.class, input::read);
                assertThat(Thread.interrupted()).isTrue();
                assertThat(socket.isClosed()).isTrue();
            }
        }
    }

    @Test
    void aCloseOrAnInterruptEndsAnAcceptOfASocket() throws Exception {
        for (int timeout : new int[] {0, LONG_MILLIS}) {
            try (ServerSocketChannel listening = Sockets.listen(provider)) {
                listening.socket().setSoTimeout(timeout);
                later(listening);
                fails(AsynchronousCloseException.class, listening.socket()::accept);
            }
            try (ServerSocketChannel listening = Sockets.listen(provider)) {
                listening.socket().setSoTimeout(timeout);
                later(Thread.currentThread()::interrupt);
                fails(ClosedByInterruptException.class, listening.socket()::accept);
                assertThat(Thread.interrupted()).isTrue();
                assertThat(listening.socket().isClosed()).isTrue();
            }
        }
    }

    @Test
    void streamsOfAClosedSocketSayThatTheChannelIsClosed() throws Exception {
        try (Pair pair = Pair.connect(provider)) {
            Socket socket = pair.client().socket();
            InputStream input = socket.getInputStream();
            OutputStream output = socket.getOutputStream();
            pair.client().configureBlocking(false);
            fails(IllegalBlockingModeException.class, () -> output.write(1));
            output.write(new byte[0]);
            socket.close();
            fails(ClosedChannelException.class, input::read);
            fails(ClosedChannelException.class, () -> output.write(1));
            fails(ClosedChannelException.class, input::available);
            assertThat(input.read(new byte[0])).isZero();
            output.write(new byte[0]);
        }
    }

    @Test
    void aSocketWhoseInputWasShutDownIsAtItsEnd() throws Exception {
        try (Pair pair = Pair.connect(provider)) {
            Socket socket = pair.client().socket();
            InputStream input = socket.getInputStream();
            socket.shutdownInput();
            socket.shutdownInput();
            socket.shutdownOutput();
            socket.shutdownOutput();
            assertThat(input.read()).isEqualTo(-1);
            assertThat(input.available()).isZero();
            fails(SocketException.class, socket::getInputStream);
            fails(SocketException.class, socket::getOutputStream);
            socket.close();
            fails(ClosedChannelException.class, socket::shutdownInput);
            fails(ClosedChannelException.class, input::available);
        }
    }

    @Test
    void aSocketThatIsNotConnectedRefuses() throws Exception {
        try (SocketChannel channel = provider.openSocketChannel()) {
            Socket socket = channel.socket();
            fails(SocketException.class, socket::shutdownInput);
            fails(SocketException.class, socket::shutdownOutput);
            fails(IllegalArgumentException.class, () -> socket.connect(null));
            fails(IllegalArgumentException.class, () -> socket.connect(Sockets.anyPort(), -1));
            fails(SocketException.class, () -> socket.connect(UnixDomainSocketAddress.of("/x")));
            channel.configureBlocking(false);
            fails(IllegalBlockingModeException.class, () -> socket.connect(Sockets.anyPort()));
            assertThat(socket.isClosed()).isFalse();
            fails(
                    UnknownHostException.class,
                    () -> socket.connect(InetSocketAddress.createUnresolved("nowhere.invalid", 1)));
            assertThat(socket.isClosed()).isTrue();
            fails(
                    SocketException.class,
                    () -> socket.connect(InetSocketAddress.createUnresolved("nowhere.invalid", 1)));
            fails(IllegalBlockingModeException.class, () -> socket.connect(Sockets.anyPort()));
        }
        SocketChannel closed = provider.openSocketChannel();
        closed.close();
        // That of the JDK has begun to wait then.
        assertThatThrownBy(() -> closed.socket().connect(Sockets.anyPort())).isInstanceOf(ClosedChannelException.class);
        fails(ClosedChannelException.class, () -> closed.socket().bind(null));
        fails(SocketException.class, () -> closed.socket().setTcpNoDelay(true));
    }

    @Test
    void aSocketIsBoundOrConnectedOnce() throws Exception {
        try (Pair pair = Pair.connect(provider);
                ServerSocketChannel listening = Sockets.listen(provider)) {
            fails(SocketException.class, () -> pair.client().socket().connect(Sockets.anyPort()));
            assertThat(pair.client().isOpen()).isTrue();
            fails(SocketException.class, () -> pair.client().socket().bind(null));
            fails(SocketException.class, () -> listening.socket().bind(null));
        }
        try (ServerSocketChannel listening = provider.openServerSocketChannel()) {
            fails(SocketException.class, listening.socket()::accept);
            fails(SocketException.class, () -> listening.socket().bind(UnixDomainSocketAddress.of("/x")));
            listening.socket().close();
            fails(ClosedChannelException.class, listening.socket()::accept);
            fails(ClosedChannelException.class, () -> listening.socket().bind(null));
            fails(SocketException.class, listening.socket()::getSoTimeout);
        }
    }

    @Test
    void aServerSocketThatDoesNotBlockAcceptsWhoIsThere() throws Exception {
        try (ServerSocketChannel listening = Sockets.listen(provider);
                SocketChannel client = provider.openSocketChannel()) {
            ServerSocket socket = listening.socket();
            listening.configureBlocking(false);
            fails(IllegalBlockingModeException.class, socket::accept);
            client.connect(listening.getLocalAddress());
            Socket accepted = null;
            while (accepted == null) {
                try {
                    accepted = socket.accept();
                } catch (IllegalBlockingModeException e) {
                    Thread.onSpinWait();
                }
            }
            accepted.close();
            socket.setSoTimeout(SHORT_MILLIS);
            fails(IllegalBlockingModeException.class, socket::accept);
        }
    }

    @Test
    void aClosedSocketKnowsItsAddresses() throws Exception {
        try (Pair pair = Pair.connect(provider);
                ServerSocketChannel listening = Sockets.listen(provider)) {
            Socket socket = pair.client().socket();
            InetSocketAddress remote = (InetSocketAddress) socket.getRemoteSocketAddress();
            InetSocketAddress local = (InetSocketAddress) socket.getLocalSocketAddress();
            int listens = listening.socket().getLocalPort();
            socket.close();
            listening.socket().close();
            assertThat(pair.client().isConnected()).isFalse();
            assertThat(socket.isConnected()).isFalse();
            assertThat(socket.isBound()).isTrue();
            assertThat(socket.getRemoteSocketAddress()).isEqualTo(remote);
            assertThat(socket.getInetAddress()).isEqualTo(remote.getAddress());
            assertThat(socket.getPort()).isEqualTo(remote.getPort());
            assertThat(socket.getLocalSocketAddress()).isEqualTo(local);
            assertThat(socket.getLocalPort()).isEqualTo(local.getPort());
            assertThat(socket.getLocalAddress().isAnyLocalAddress()).isTrue();
            assertThat(listening.socket().isBound()).isTrue();
            assertThat(listening.socket().getLocalPort()).isEqualTo(listens);
        }
    }

    @Test
    void theWildcardAddressIsThatOfThisHost() throws Exception {
        try (ServerSocketChannel listening = Sockets.listen(provider);
                SocketChannel client = provider.openSocketChannel()) {
            client.connect(new InetSocketAddress(listening.socket().getLocalPort()));
            assertThat(client.getRemoteAddress()).isEqualTo(listening.getLocalAddress());
        }
    }

    @Test
    void aSocketWithoutAnAddressIsBoundToAny() throws Exception {
        try (SocketChannel channel = provider.openSocketChannel()) {
            assertThat(channel.socket().isBound()).isFalse();
            channel.socket().setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.socket().bind(null);
            assertThat(channel.socket().isBound()).isTrue();
            assertThat(channel.socket().getLocalPort()).isNotEqualTo(-1);
        }
    }
}
