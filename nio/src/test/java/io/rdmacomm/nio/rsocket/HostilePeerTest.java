package io.rdmacomm.nio.rsocket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rdmacomm.nio.rsocket.RsConnector.Established;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionException;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.cm.Listener;
import io.rdmacomm.verbs.cm.Route;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Peers that break the rules, against a connection of ours. Each costs only its own connection.
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class HostilePeerTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final int CREDITS = 64;
    private static final int RING = 8192;

    private final SocketDevice ours = SocketDevice.open("soft0");
    private final SocketDevice theirs = SocketDevice.open("soft0");
    private final Arena arena = Arena.ofShared();
    private final ConnectionMemory memory =
            new ConnectionMemory(theirs.domain(), new BufferSizes(RING, RING, CREDITS), CREDITS);
    private final CompletionQueue completions =
            theirs.context().createCompletionQueue(CompletionQueueOptions.ofCapacity(1000));
    private final QueuePair queuePair = theirs.domain()
            .createQueuePair(QueuePairOptions.reliable(completions).withSizes(new QueueSizes(500, CREDITS, 2, 1, 4)));
    private final Wire wire = new Wire(queuePair, memory, arena, CREDITS, true);

    @AfterEach
    void close() {
        ours.close();
        theirs.close();
        arena.close();
    }

    private static <T> FutureTask<T> inBackground(Callable<T> action) {
        FutureTask<T> task = new FutureTask<>(action);
        Thread.ofVirtual().start(task);
        return task;
    }

    private ConnectionData data(int credits, int length) {
        return new ConnectionData(
                credits,
                memory.targets(),
                memory.region().remoteKey(),
                2,
                memory.region().address(),
                memory.region().remoteKey(),
                length,
                true);
    }

    private RsConnection connected() throws Exception {
        return connected(data(CREDITS, RING / 2).bytes(56)).get();
    }

    /// A connection of ours to a peer that answers with some private data.
    private FutureTask<RsConnection> connected(byte[] privateData) throws Exception {
        Listener<ConnectionRequest> listener = theirs.manager().listen(ANY_PORT);
        FutureTask<RsConnection> connecting = inBackground(() -> RsConnector.connect(
                        ours, listener.localAddress(), IdentifierOptions.none(), BufferSizes.defaults(), PATIENCE)
                .connection());
        ConnectionRequest request = listener.awaitRequest(PATIENCE);
        request.prepare(queuePair);
        wire.receive(CREDITS);
        request.accept(queuePair, ConnectionParameters.defaults().withPrivateData(privateData), PATIENCE);
        return connecting;
    }

    private static void fails(RsConnection connection, String reason) {
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> {
                    while (connection.read(ByteBuffer.allocate(1000)) >= 0) {
                        connection.await(RsConnection.READ, 0, PATIENCE.toNanos(), () -> false);
                    }
                })
                .withMessageContaining(reason);
        assertThatExceptionOfType(IOException.class).isThrownBy(() -> connection.write(ByteBuffer.allocate(1)));
        connection.close(PATIENCE);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 0x2000_0001, 0x7fff_ffff, 0xa000_0000, 0xe000_0007})
    void anUnknownMessageEndsTheConnection(int message) throws Exception {
        RsConnection connection = connected();
        wire.message(message);
        fails(connection, "which rsockets do not have");
    }

    @Test
    void moreBytesThanGrantedEndTheConnection() throws Exception {
        RsConnection connection = connected();
        wire.message(Message.data(1 << 17));
        wire.message(Message.data(1));
        fails(connection, "may write 0");
    }

    @Test
    void moreMessagesThanAllowedEndTheConnection() throws Exception {
        RsConnection connection = connected();
        for (int i = 0; i < 385; i++) {
            wire.message(Message.data(1));
        }
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> {
                    while (true) {
                        connection.progress();
                        connection.write(ByteBuffer.allocate(0));
                    }
                })
                .withMessageContaining("112 of 112 messages");
        connection.abort();
    }

    @Test
    void aLimitBeyondTheReceivesEndsTheConnection() throws Exception {
        RsConnection connection = connected();
        wire.message(Message.credits(CREDITS + 1));
        fails(connection, "more than the " + CREDITS);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, Message.MAX_DATA + 1, Integer.MIN_VALUE})
    void aGrantOfAnImpossibleLengthEndsTheConnection(int length) throws Exception {
        Listener<ConnectionRequest> listener = ours.manager().listen(ANY_PORT);
        FutureTask<Established> accepting = inBackground(
                () -> RsConnector.accept(ours, listener.awaitRequest(PATIENCE), BufferSizes.defaults(), PATIENCE));
        ConnectionData peer;
        try (Route route = theirs.manager().resolve(listener.localAddress(), PATIENCE)) {
            route.prepare(queuePair);
            wire.receive(CREDITS);
            Connection connection = route.connect(
                    queuePair,
                    ConnectionParameters.defaults()
                            .withPrivateData(data(CREDITS, RING / 2).bytes(56)),
                    PATIENCE);
            peer = ConnectionData.parse(connection.privateData());
        }
        RsConnection connection = accepting.get().connection();
        int at = memory.putGrant(0, 0, length);
        wire.grant(Message.credits(CREDITS), at, peer.targets() + ConnectionMemory.TARGET_BYTES, peer.targetKey());
        fails(connection, "grants " + length);
    }

    @Test
    void aGrantThatIsNotOneIsTolerated() throws Exception {
        RsConnection connection = connected();
        for (int i = 0; i < 10; i++) {
            wire.message(Message.credits(CREDITS));
        }
        wire.message(0xc000_0000);
        wire.message(Message.SHUTDOWN);
        while (connection.read(ByteBuffer.allocate(1)) == 0) {
            connection.await(RsConnection.READ, 0, PATIENCE.toNanos(), () -> false);
        }
        assertThat(connection.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        assertThat(connection.write(ByteBuffer.allocate(10))).isEqualTo(10);
        connection.close(PATIENCE);
    }

    @Test
    void anEmptyWriteToNoKeyIsASignOfLife() throws Exception {
        RsConnection connection = connected();
        SendBatch batch = SendBatch.create(arena, 1, 1);
        batch.write(1, 0, 0).signaled();
        queuePair.post(batch);
        wire.message(Message.DISCONNECT);
        while (connection.read(ByteBuffer.allocate(1)) == 0) {
            connection.await(RsConnection.READ, 0, PATIENCE.toNanos(), () -> false);
        }
        assertThat(connection.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        connection.close(PATIENCE);
    }

    @Test
    void aPeerThatVanishesIsAReset() throws Exception {
        RsConnection connection = connected();
        theirs.close();
        fails(connection, "Connection reset");
    }

    @Test
    void aPeerThatIsNoRsocketIsNotConnected() throws Exception {
        FutureTask<RsConnection> connecting = connected(new byte[10]);
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(connecting::get)
                .withCauseInstanceOf(ProtocolException.class);
    }

    @Test
    void aListenerOutlivesPeersThatAreNoRsockets() throws Exception {
        try (RsListener listener = RsListener.open(ours, ANY_PORT, 5, BufferSizes.defaults())) {
            for (int i = 0; i < 3; i++) {
                try (Socket plain = new Socket(
                        listener.localAddress().getAddress(),
                        listener.localAddress().getPort())) {
                    plain.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                    plain.setSoTimeout(1_000);
                    assertThat(plain.getInputStream().read()).isEqualTo(-1);
                }
            }
            try (Route route = theirs.manager().resolve(listener.localAddress(), PATIENCE)) {
                assertThatExceptionOfType(ConnectionException.class)
                        .isThrownBy(() -> route.connect(
                                queuePair, ConnectionParameters.defaults().withPrivateData(new byte[39]), PATIENCE));
            }
            Established established = RsConnector.connect(
                    theirs, listener.localAddress(), IdentifierOptions.none(), BufferSizes.defaults(), PATIENCE);
            assertThat(listener.await(PATIENCE.toNanos())).isTrue();
            established.connection().close(PATIENCE);
        }
    }

    @Test
    void closedConnectionsLeaveNothingBehind() throws Exception {
        List<QueuePair> used = new ArrayList<>();
        try (RsListener listener = RsListener.open(ours, ANY_PORT, 5, BufferSizes.defaults())) {
            for (int i = 0; i < 20; i++) {
                Established client = RsConnector.connect(
                        theirs, listener.localAddress(), IdentifierOptions.none(), BufferSizes.defaults(), PATIENCE);
                assertThat(listener.await(PATIENCE.toNanos())).isTrue();
                Established server = listener.poll();
                used.add(client.connection().queuePair());
                used.add(server.connection().queuePair());
                assertThat(client.connection().write(ByteBuffer.allocate(100))).isEqualTo(100);
                client.connection().close(PATIENCE);
                server.connection().close(PATIENCE);
            }
        }
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (used.stream().anyMatch(QueuePair::isOpen)) {
            assertThat(System.nanoTime() - end).isNegative();
            Thread.onSpinWait();
        }
    }
}
