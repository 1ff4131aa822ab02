package io.rdmacomm.tests.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.nio.Sockets.Pair;
import java.io.IOException;
import java.io.InputStream;
import java.lang.Thread.State;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.nio.channels.spi.SelectorProvider;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/// Channels and their sockets.
@ParameterizedClass
@EnumSource(Sockets.class)
@Timeout(value = 1, unit = TimeUnit.MINUTES)
@ExtendWith(LeakCheck.class)
class SocketChannelTest {
    private static final int SHORT_MILLIS = 50;
    private static final int LARGE = 3_000_000;

    private final Sockets sockets;
    private final SelectorProvider provider;

    SocketChannelTest(Sockets sockets) {
        this.sockets = sockets;
        this.provider = sockets.provider();
    }

    @AfterEach
    void close() {
        Sockets.close(provider);
    }

    private static ByteBuffer bytes(int... values) {
        ByteBuffer buffer = ByteBuffer.allocate(values.length);
        for (int value : values) {
            buffer.put((byte) value);
        }
        return buffer.flip();
    }

    private static <T> FutureTask<T> inBackground(Callable<T> action, boolean virtual) {
        FutureTask<T> task = new FutureTask<>(action);
        if (virtual) {
            Thread.ofVirtual().start(task);
        } else {
            Thread.ofPlatform().daemon().start(task);
        }
        return task;
    }

    private static boolean isWaiting(Thread thread) {
        return thread != null && EnumSet.of(State.WAITING, State.TIMED_WAITING).contains(thread.getState());
    }

    // ---- Streams ----

    @Test
    void bytesArriveInOrderAndThenTheEnd() throws Exception {
        byte[] sent = new byte[LARGE];
        long seed = System.nanoTime();
        System.out.println(sockets + ": seed " + seed);
        new Random(seed).nextBytes(sent);
        try (Pair pair = Pair.connect(provider)) {
            FutureTask<?> writing = inBackground(
                    () -> {
                        ByteBuffer left = ByteBuffer.wrap(sent);
                        Random random = new Random(seed + 1);
                        while (left.hasRemaining()) {
                            int part = Math.min(left.remaining(), 1 + random.nextInt(100_000));
                            ByteBuffer direct = ByteBuffer.allocateDirect(part);
                            direct.put(left.slice(left.position(), part)).flip();
                            while (direct.hasRemaining()) {
                                pair.client().write(direct);
                            }
                            left.position(left.position() + part);
                        }
                        return pair.client().shutdownOutput();
                    },
                    false);
            ByteBuffer arrived = ByteBuffer.allocate(LARGE + 1);
            Random random = new Random(seed + 2);
            int last = 0;
            while (last >= 0) {
                ByteBuffer part =
                        arrived.slice(arrived.position(), Math.min(arrived.remaining(), random.nextInt(70_000) + 1));
                last = pair.server().read(part);
                arrived.position(arrived.position() + Math.max(0, last));
            }
            writing.get();
            assertThat(arrived.position()).isEqualTo(LARGE);
            assertThat(arrived.flip()).isEqualTo(ByteBuffer.wrap(sent));
        }
    }

    @Test
    void severalBuffersAreOneStream() throws Exception {
        try (Pair pair = Pair.connect(provider)) {
            ByteBuffer[] sources = {bytes(0), bytes(), bytes(1, 2), bytes(3, 4, 5)};
            assertThat(pair.client().write(sources, 1, 3)).isEqualTo(5);
            ByteBuffer[] targets = {ByteBuffer.allocate(1), ByteBuffer.allocate(0), ByteBuffer.allocate(10)};
            long read = 0;
            while (read < 5) {
                read += pair.server().read(targets);
            }
            assertThat(targets[0].get(0)).isEqualTo((byte) 1);
            assertThat(targets[2].flip()).isEqualTo(bytes(2, 3, 4, 5));
        }
    }

    @Test
    void bothEndsMayWriteAfterTheOtherHasEnded() throws Exception {
        try (Pair pair = Pair.connect(provider)) {
            pair.client().shutdownOutput();
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            pair.server().write(bytes(7));
            assertThat(pair.client().read(ByteBuffer.allocate(9))).isEqualTo(1);
            assertThatExceptionOfType(ClosedChannelException.class)
                    .isThrownBy(() -> pair.client().write(bytes(1)));
        }
    }

    @Test
    void aCloseLosesNothingThatWasWritten() throws Exception {
        for (int round = 0; round < 10; round++) {
            try (Pair pair = Pair.connect(provider)) {
                pair.client().configureBlocking(false);
                ByteBuffer all = ByteBuffer.allocate(LARGE);
                int written = pair.client().write(all);
                pair.client().close();
                ByteBuffer arrived = ByteBuffer.allocate(LARGE + 1);
                int last = 0;
                while (last >= 0) {
                    last = pair.server().read(arrived);
                }
                assertThat(arrived.position()).isEqualTo(written).isPositive();
            }
        }
    }

    @Test
    void writingToAPeerThatIsGoneFails() throws Exception {
        try (Pair pair = Pair.connect(provider)) {
            pair.server().close();
            assertThatExceptionOfType(IOException.class).isThrownBy(() -> {
                while (true) {
                    pair.client().write(ByteBuffer.allocate(1000));
                }
            });
            assertThat(pair.client().isOpen()).isTrue();
        }
    }

    @Test
    void aNonBlockingChannelDoesNotWait() throws Exception {
        try (Pair pair = Pair.connect(provider)) {
            pair.client().configureBlocking(false);
            assertThat(pair.client().read(ByteBuffer.allocate(1))).isZero();
            ByteBuffer much = ByteBuffer.allocate(100 * LARGE);
            while (pair.client().write(much) > 0) {}
            assertThat(much.hasRemaining()).isTrue();
        }
    }

    @Test
    void emptyBuffersDoNothing() throws Exception {
        try (Pair pair = Pair.connect(provider)) {
            assertThat(pair.client().read(ByteBuffer.allocate(0))).isZero();
            assertThat(pair.client().write(ByteBuffer.allocate(0))).isZero();
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pair.client().read(ByteBuffer.allocate(1).asReadOnlyBuffer()));
            assertThat(pair.client().write(bytes(5).asReadOnlyBuffer())).isEqualTo(1);
        }
    }

    // ---- The order of checks ----

    private static void fails(Class<? extends Throwable> type, ThrowingCallable call) {
        assertThatThrownBy(call).isExactlyInstanceOf(type);
    }

    @Test
    void anUnconnectedChannelRefusesToTransfer() throws Exception {
        try (SocketChannel channel = provider.openSocketChannel()) {
            fails(NotYetConnectedException.class, () -> channel.read(ByteBuffer.allocate(1)));
            fails(NotYetConnectedException.class, () -> channel.write(bytes(1)));
            fails(NotYetConnectedException.class, channel::shutdownInput);
            fails(NotYetConnectedException.class, channel::shutdownOutput);
            fails(NoConnectionPendingException.class, channel::finishConnect);
            assertThat(channel.getRemoteAddress()).isNull();
            assertThat(channel.getLocalAddress()).isNull();
            assertThat(channel.isConnected()).isFalse();
            assertThat(channel.isConnectionPending()).isFalse();
        }
    }

    @Test
    void aClosedChannelRefusesEverything() throws Exception {
        SocketChannel channel = provider.openSocketChannel();
        channel.close();
        channel.close();
        fails(ClosedChannelException.class, () -> channel.read(ByteBuffer.allocate(1)));
        fails(ClosedChannelException.class, () -> channel.write(bytes(1)));
        fails(ClosedChannelException.class, () -> channel.connect(Sockets.anyPort()));
        fails(ClosedChannelException.class, channel::finishConnect);
        fails(ClosedChannelException.class, () -> channel.bind(null));
        fails(ClosedChannelException.class, channel::shutdownOutput);
        fails(ClosedChannelException.class, channel::getRemoteAddress);
        fails(ClosedChannelException.class, channel::getLocalAddress);
        fails(ClosedChannelException.class, () -> channel.setOption(StandardSocketOptions.TCP_NODELAY, true));
        fails(ClosedChannelException.class, () -> channel.configureBlocking(false));
        ServerSocketChannel listening = provider.openServerSocketChannel();
        listening.close();
        fails(ClosedChannelException.class, listening::accept);
        fails(ClosedChannelException.class, () -> listening.bind(null));
    }

    @Test
    void wrongAddressesAreRefused() throws Exception {
        try (SocketChannel channel = provider.openSocketChannel()) {
            fails(
                    UnresolvedAddressException.class,
                    () -> channel.connect(InetSocketAddress.createUnresolved("nowhere.invalid", 1)));
            fails(UnsupportedAddressTypeException.class, () -> channel.connect(UnixDomainSocketAddress.of("/x")));
            assertThat(channel.isOpen()).isTrue();
            channel.bind(null);
            fails(AlreadyBoundException.class, () -> channel.bind(null));
        }
    }

    @Test
    void aChannelConnectsFromTheAddressThatItIsBoundTo() throws Exception {
        for (InetSocketAddress wanted : List.of(Sockets.anyPort(), new InetSocketAddress(0))) {
            try (ServerSocketChannel listening = Sockets.listen(provider);
                    SocketChannel channel = provider.openSocketChannel()) {
                channel.bind(wanted);
                InetSocketAddress bound = (InetSocketAddress) channel.getLocalAddress();
                assertThat(bound.getPort()).isPositive();
                assertThat(channel.socket().isBound()).isTrue();
                channel.connect(listening.getLocalAddress());
                InetSocketAddress local = (InetSocketAddress) channel.getLocalAddress();
                assertThat(local).isEqualTo(new InetSocketAddress(InetAddress.getLoopbackAddress(), bound.getPort()));
                try (SocketChannel accepted = listening.accept()) {
                    assertThat(accepted.getRemoteAddress()).isEqualTo(local);
                    channel.write(ByteBuffer.wrap(new byte[] {1}));
                    assertThat(accepted.read(ByteBuffer.allocate(2))).isEqualTo(1);
                }
            }
        }
    }

    @Test
    @SuppressWarnings("try") // a channel is closed early
    void aPortIsTakenFromBindToClose() throws Exception {
        try (SocketChannel channel = provider.openSocketChannel();
                SocketChannel second = provider.openSocketChannel()) {
            channel.bind(Sockets.anyPort());
            SocketAddress bound = channel.getLocalAddress();
            fails(BindException.class, () -> second.bind(bound));
            fails(BindException.class, () -> second.bind(new InetSocketAddress("192.0.2.1", 0)));
            channel.close();
            second.bind(bound);
            assertThat(second.getLocalAddress()).isEqualTo(bound);
        }
    }

    @Test
    void aConnectedChannelConnectsNoMore() throws Exception {
        try (Pair pair = Pair.connect(provider)) {
            fails(AlreadyConnectedException.class, () -> pair.client().connect(Sockets.anyPort()));
            assertThat(pair.client().finishConnect()).isTrue();
            assertThat(pair.client().getRemoteAddress()).isEqualTo(pair.server().getLocalAddress());
            assertThat(pair.server().getRemoteAddress()).isEqualTo(pair.client().getLocalAddress());
        }
    }

    @Test
    void listenersCheckTheirState() throws Exception {
        try (ServerSocketChannel listening = provider.openServerSocketChannel()) {
            fails(NotYetBoundException.class, listening::accept);
            assertThat(listening.getLocalAddress()).isNull();
            listening.bind(Sockets.anyPort());
            fails(AlreadyBoundException.class, () -> listening.bind(null));
            listening.configureBlocking(false);
            assertThat(listening.accept()).isNull();
            try (ServerSocketChannel second = provider.openServerSocketChannel()) {
                assertThatExceptionOfType(BindException.class)
                        .isThrownBy(() -> second.bind(listening.getLocalAddress()));
            }
        }
    }

    @Test
    void aPortWhereNobodyListensRefuses() throws Exception {
        InetSocketAddress free;
        try (ServerSocketChannel listening = Sockets.listen(provider)) {
            free = (InetSocketAddress) listening.getLocalAddress();
        }
        SocketChannel blocking = provider.openSocketChannel();
        assertThatExceptionOfType(ConnectException.class).isThrownBy(() -> blocking.connect(free));
        assertThat(blocking.isOpen()).isFalse();
        SocketChannel channel = provider.openSocketChannel();
        channel.configureBlocking(false);
        assertThatExceptionOfType(ConnectException.class).isThrownBy(() -> {
            channel.connect(free);
            while (!channel.finishConnect()) {
                Thread.onSpinWait();
            }
        });
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void aChannelIsConnectedWhenItHasSaidSo() throws Exception {
        try (ServerSocketChannel listening = Sockets.listen(provider);
                SocketChannel channel = provider.openSocketChannel()) {
            channel.configureBlocking(false);
            boolean connected = channel.connect(listening.getLocalAddress());
            SocketChannel accepted = listening.accept();
            while (!connected) {
                assertThat(channel.isConnected()).isFalse();
                assertThat(channel.isConnectionPending()).isTrue();
                connected = channel.finishConnect();
            }
            assertThat(channel.isConnected()).isTrue();
            assertThat(channel.isConnectionPending()).isFalse();
            accepted.close();
        }
    }

    // ---- Ends of waits ----

    private void endsARead(boolean virtual, boolean interrupt, Class<? extends Throwable> expected) throws Exception {
        try (Pair pair = Pair.connect(provider)) {
            Thread[] reader = new Thread[1];
            FutureTask<Integer> reading = inBackground(
                    () -> {
                        reader[0] = Thread.currentThread();
                        return pair.client().read(ByteBuffer.allocate(1));
                    },
                    virtual);
            Deadline.await("the reader", () -> reader[0] != null);
            Thread.sleep(SHORT_MILLIS);
            if (interrupt) {
                reader[0].interrupt();
            } else {
                pair.client().close();
            }
            assertThatThrownBy(() -> reading.get(30, TimeUnit.SECONDS)).cause().isExactlyInstanceOf(expected);
            assertThat(pair.client().isOpen()).isFalse();
        }
    }

    @Test
    void aCloseEndsARead() throws Exception {
        endsARead(false, false, AsynchronousCloseException.class);
        endsARead(true, false, AsynchronousCloseException.class);
    }

    @Test
    void anInterruptEndsAReadAndClosesTheChannel() throws Exception {
        endsARead(false, true, ClosedByInterruptException.class);
        endsARead(true, true, ClosedByInterruptException.class);
    }

    @Test
    void aCloseEndsAWrite() throws Exception {
        try (Pair pair = Pair.connect(provider)) {
            FutureTask<Integer> writing = inBackground(
                    () -> {
                        while (true) {
                            pair.client().write(ByteBuffer.allocate(LARGE));
                        }
                    },
                    false);
            Thread.sleep(SHORT_MILLIS);
            pair.client().close();
            assertThatThrownBy(() -> writing.get(30, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOf(ClosedChannelException.class);
        }
    }

    private static ByteBuffer[] halves(int bytes) {
        return new ByteBuffer[] {ByteBuffer.allocate(bytes / 2), ByteBuffer.allocate(bytes / 2)};
    }

    @Test
    void anInterruptFromBeforeEndsACallThatNeedNotWait() throws Exception {
        List<Function<SocketChannel, ThrowingCallable>> calls = List.of(
                channel -> () -> channel.write(bytes(1)),
                channel -> () -> channel.write(halves(2)),
                channel -> () -> channel.read(ByteBuffer.allocate(1)),
                channel -> () -> channel.read(halves(2)));
        for (Function<SocketChannel, ThrowingCallable> call : calls) {
            try (Pair pair = Pair.connect(provider)) {
                pair.server().write(bytes(1));
                Thread.currentThread().interrupt();
                fails(ClosedByInterruptException.class, call.apply(pair.client()));
                assertThat(Thread.interrupted()).isTrue();
                assertThat(pair.client().isOpen()).isFalse();
            }
        }
        try (ServerSocketChannel listening = Sockets.listen(provider);
                SocketChannel client = provider.openSocketChannel()) {
            client.connect(listening.getLocalAddress());
            Thread.currentThread().interrupt();
            fails(ClosedByInterruptException.class, listening::accept);
            assertThat(Thread.interrupted()).isTrue();
            assertThat(listening.isOpen()).isFalse();
        }
    }

    /// The JDK's channel may return after a part, so that the next call finds it closed already.
    @Test
    void theEndOfTheOutputEndsAWriteThatWaits() throws Exception {
        for (boolean whole : new boolean[] {true, false}) {
            for (boolean gathering : new boolean[] {true, false}) {
                try (Pair pair = Pair.connect(provider)) {
                    SocketChannel channel = pair.client();
                    AtomicReference<Thread> writer = new AtomicReference<>();
                    FutureTask<Object> writing = inBackground(
                            () -> {
                                writer.set(Thread.currentThread());
                                while (true) {
                                    var _ = gathering
                                            ? channel.write(halves(LARGE))
                                            : channel.write(ByteBuffer.allocate(LARGE));
                                }
                            },
                            true);
                    Deadline.await("the writer waits", () -> isWaiting(writer.get()));
                    if (whole) {
                        channel.close();
                    } else {
                        channel.shutdownOutput();
                    }
                    assertThatThrownBy(() -> writing.get(30, TimeUnit.SECONDS))
                            .cause()
                            .isInstanceOf(
                                    sockets == Sockets.RSOCKETS
                                            ? AsynchronousCloseException.class
                                            : ClosedChannelException.class);
                }
            }
        }
    }

    @Test
    void aClosedChannelIsNeitherConnectedNorPending() throws Exception {
        try (Pair pair = Pair.connect(provider);
                ServerSocketChannel listening = Sockets.listen(provider)) {
            pair.client().close();
            assertThat(pair.client().isConnected()).isFalse();
            SocketChannel channel = provider.openSocketChannel();
            channel.configureBlocking(false);
            var _ = channel.connect(listening.getLocalAddress());
            channel.close();
            assertThat(channel.isConnectionPending()).isFalse();
        }
    }

    @Test
    void onlyAnOpenChannelLooksAtTheBuffer() throws Exception {
        ByteBuffer readOnly = ByteBuffer.allocate(1).asReadOnlyBuffer();
        try (Pair pair = Pair.connect(provider)) {
            fails(IllegalArgumentException.class, () -> pair.client().read(readOnly));
            pair.client().shutdownInput();
            assertThat(pair.client().read(readOnly)).isEqualTo(-1);
            pair.client().close();
            fails(ClosedChannelException.class, () -> pair.client().read(readOnly));
        }
    }

    @Test
    void aCloseEndsAnAccept() throws Exception {
        ServerSocketChannel listening = Sockets.listen(provider);
        FutureTask<SocketChannel> accepting = inBackground(listening::accept, false);
        Thread.sleep(SHORT_MILLIS);
        listening.close();
        assertThatThrownBy(() -> accepting.get(30, TimeUnit.SECONDS))
                .cause()
                .isExactlyInstanceOf(AsynchronousCloseException.class);
    }

    @Test
    void theEndOfTheInputWakesTheReader() throws Exception {
        try (Pair pair = Pair.connect(provider)) {
            FutureTask<Integer> reading = inBackground(() -> pair.client().read(ByteBuffer.allocate(1)), false);
            Thread.sleep(SHORT_MILLIS);
            pair.client().shutdownInput();
            assertThat(reading.get(30, TimeUnit.SECONDS)).isEqualTo(-1);
            assertThat(pair.client().read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    @Test
    void aReaderAndAWriterOfOneChannelDoNotWaitForEachOther() throws Exception {
        try (Pair pair = Pair.connect(provider)) {
            Socket socket = pair.client().socket();
            FutureTask<Integer> reading =
                    inBackground(() -> socket.getInputStream().read(), false);
            Thread.sleep(SHORT_MILLIS);
            socket.getOutputStream().write(9);
            assertThat(pair.server().read(ByteBuffer.allocate(2))).isEqualTo(1);
            pair.server().write(bytes(8));
            assertThat(reading.get(30, TimeUnit.SECONDS)).isEqualTo(8);
        }
    }

    // ---- Sockets ----

    @Test
    void aSocketTimesOut() throws Exception {
        try (Pair pair = Pair.connect(provider)) {
            Socket socket = pair.client().socket();
            socket.setSoTimeout(SHORT_MILLIS);
            InputStream input = socket.getInputStream();
            assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(input::read);
            pair.server().write(bytes(1, 2));
            assertThat(input.read()).isEqualTo(1);
            assertThat(input.available()).isEqualTo(1);
            assertThat(input.read()).isEqualTo(2);
            pair.client().configureBlocking(false);
            assertThatExceptionOfType(IllegalBlockingModeException.class).isThrownBy(input::read);
        }
    }

    @Test
    void aServerSocketTimesOut() throws Exception {
        try (ServerSocketChannel listening = provider.openServerSocketChannel()) {
            ServerSocket socket = listening.socket();
            assertThat(socket.isBound()).isFalse();
            socket.bind(Sockets.anyPort());
            socket.setSoTimeout(SHORT_MILLIS);
            assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(socket::accept);
            try (SocketChannel client = provider.openSocketChannel()) {
                client.socket().connect(listening.getLocalAddress(), 10_000);
                Socket accepted = socket.accept();
                assertThat(accepted.getPort()).isEqualTo(client.socket().getLocalPort());
                assertThat(accepted.isConnected()).isTrue();
                accepted.close();
                assertThat(accepted.isClosed()).isTrue();
                assertThatExceptionOfType(SocketException.class).isThrownBy(accepted::getInputStream);
            }
        }
    }

    @Test
    void aSocketKnowsItsState() throws Exception {
        try (SocketChannel channel = provider.openSocketChannel()) {
            Socket socket = channel.socket();
            assertThat(channel.socket()).isSameAs(socket);
            assertThat(socket.getChannel()).isSameAs(channel);
            assertThat(socket.isConnected()).isFalse();
            assertThat(socket.getInetAddress()).isNull();
            assertThat(socket.getPort()).isZero();
            assertThat(socket.getLocalPort()).isEqualTo(-1);
            assertThat(socket.getRemoteSocketAddress()).isNull();
            assertThatExceptionOfType(SocketException.class).isThrownBy(socket::getOutputStream);
            assertThatIllegalArgumentException().isThrownBy(() -> socket.setSoTimeout(-1));
            assertThatIllegalArgumentException().isThrownBy(() -> socket.setReceiveBufferSize(0));
        }
    }

    @Test
    void aCloseThatLingersLosesNothing() throws Exception {
        try (Pair pair = Pair.connect(provider)) {
            pair.client().setOption(StandardSocketOptions.SO_LINGER, 30);
            pair.client().write(ByteBuffer.allocate(50_000));
            pair.client().close();
            ByteBuffer arrived = ByteBuffer.allocate(60_000);
            while (pair.server().read(arrived) >= 0) {
                assertThat(arrived.position()).isPositive();
            }
            assertThat(arrived.position()).isEqualTo(50_000);
        }
    }

    @Test
    void aTypeOfServiceDoesNotDisturbAConnection() throws Exception {
        try (ServerSocketChannel listening = Sockets.listen(provider);
                SocketChannel client = provider.openSocketChannel()) {
            client.setOption(StandardSocketOptions.IP_TOS, 0x20);
            client.connect(listening.getLocalAddress());
            assertThat(client.getOption(StandardSocketOptions.IP_TOS)).isEqualTo(0x20);
            listening.accept().close();
        }
    }

    // ---- Options ----

    @Test
    void optionsAreKept() throws Exception {
        try (SocketChannel channel = provider.openSocketChannel();
                ServerSocketChannel listening = provider.openServerSocketChannel()) {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.socket().setKeepAlive(true);
            channel.setOption(StandardSocketOptions.SO_LINGER, 5);
            assertThat(channel.getOption(StandardSocketOptions.TCP_NODELAY)).isTrue();
            assertThat(channel.getOption(StandardSocketOptions.SO_KEEPALIVE)).isTrue();
            assertThat(channel.socket().getSoLinger()).isEqualTo(5);
            channel.setOption(StandardSocketOptions.SO_RCVBUF, 65_536);
            assertThat(channel.getOption(StandardSocketOptions.SO_RCVBUF)).isPositive();
            assertThat(channel.supportedOptions()).contains(StandardSocketOptions.SO_SNDBUF);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> channel.setOption(StandardSocketOptions.SO_SNDBUF, -1));
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> channel.setOption(StandardSocketOptions.IP_MULTICAST_TTL, 1));
            listening.setOption(StandardSocketOptions.SO_RCVBUF, 32_768);
            listening.bind(Sockets.anyPort());
            channel.connect(listening.getLocalAddress());
            assertThat(channel.getOption(StandardSocketOptions.TCP_NODELAY)).isTrue();
            try (SocketChannel accepted = listening.accept()) {
                assertThat(accepted.getOption(StandardSocketOptions.SO_RCVBUF)).isPositive();
            }
        }
    }

    @Test
    void otherKindsOfSocketsAreThoseOfTheJdk() throws Exception {
        provider.openDatagramChannel().close();
        provider.openDatagramChannel(StandardProtocolFamily.INET).close();
        provider.openPipe().sink().close();
        try (SocketChannel unix = provider.openSocketChannel(StandardProtocolFamily.UNIX)) {
            assertThat(unix.isOpen()).isTrue();
        }
        try (ServerSocketChannel inet = provider.openServerSocketChannel(StandardProtocolFamily.INET)) {
            inet.bind(Sockets.anyPort());
        }
    }
}
