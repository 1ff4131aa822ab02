package io.rdmacomm.nio.rsocket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rdmacomm.nio.rsocket.RsConnector.Established;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.ProtectionDomain;
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
import io.rdmacomm.verbs.counters.ChannelCounters;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
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
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Peers that break the rules, against a connection of ours. Each costs only its own connection.
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class HostilePeerTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final int CREDITS = 64;
    private static final int RING = 8192;
    private static final int MAPPINGS = 2;
    private static final int MAPPED = 4096;

    private final SocketDevice ours = SocketDevice.open("soft0");
    private final SocketDevice theirs = SocketDevice.open("soft0");
    private final Arena arena = Arena.ofShared();
    private final ProtectionDomain domain = theirs.context().allocateProtectionDomain();
    private final ConnectionMemory memory =
            new ConnectionMemory(theirs.pool(), domain, new BufferSizes(RING, RING, RING, CREDITS, MAPPINGS), CREDITS);
    private final CompletionQueue completions =
            theirs.context().createCompletionQueue(CompletionQueueOptions.ofCapacity(1000));
    private final QueuePair queuePair = domain.createQueuePair(
            QueuePairOptions.reliable(completions).withSizes(new QueueSizes(500, CREDITS, 2, 1, 4)));
    private final Wire wire = new Wire(queuePair, memory, arena, CREDITS, true, new ChannelCounters());
    /// What our end has sent to a peer that connects.
    private ConnectionData peer;

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
                MAPPINGS,
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
                        ours, listener.localAddress(), IdentifierOptions.none(), BufferSizes.defaults(), TIMEOUT)
                .connection());
        ConnectionRequest request = listener.awaitRequest(TIMEOUT);
        request.prepare(queuePair);
        wire.receive(CREDITS);
        request.accept(queuePair, ConnectionParameters.defaults().withPrivateData(privateData), TIMEOUT);
        return connecting;
    }

    private static void fails(RsConnection connection, String reason) {
        long end = System.nanoTime() + TIMEOUT.toNanos();
        assertThatExceptionOfType(SocketException.class)
                .isThrownBy(() -> {
                    while (connection.read(ByteBuffer.allocate(1000)) >= 0) {
                        assertThat(System.nanoTime() - end).isNegative();
                        connection.await(Readiness.READ, 0, TIMEOUT.toNanos(), () -> false);
                    }
                })
                .withMessage("Connection reset")
                .havingCause()
                .withMessageContaining(reason);
        assertThatExceptionOfType(IOException.class).isThrownBy(() -> connection.write(ByteBuffer.allocate(1)));
        connection.close(TIMEOUT);
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
        wire.message(RsMessage.data(1 << 17));
        wire.message(RsMessage.data(1));
        fails(connection, "may write 0");
    }

    @Test
    void moreMessagesThanAllowedEndTheConnection() throws Exception {
        RsConnection connection = connected();
        for (int i = 0; i < 385; i++) {
            wire.message(RsMessage.data(1));
        }
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> {
                    while (true) {
                        connection.progress();
                        connection.write(ByteBuffer.allocate(0));
                    }
                })
                .havingCause()
                .withMessageContaining("112 of 112 messages");
        connection.abort();
    }

    @Test
    void aLimitBeyondTheReceivesEndsTheConnection() throws Exception {
        RsConnection connection = connected();
        wire.message(RsMessage.credits(CREDITS + 1));
        fails(connection, "more than the " + CREDITS);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, RsMessage.MAX_DATA + 1, Integer.MIN_VALUE})
    void aGrantOfAnImpossibleLengthEndsTheConnection(int length) throws Exception {
        RsConnection connection = accepted(0);
        int at = memory.putGrant(0, memory.region(), 0, length);
        wire.grant(RsMessage.credits(CREDITS), at, peer.targets() + ConnectionMemory.TARGET_BYTES, peer.targetKey());
        fails(connection, "grants " + length);
    }

    @Test
    void aGrantThatIsNotOneIsTolerated() throws Exception {
        RsConnection connection = connected();
        for (int i = 0; i < 10; i++) {
            wire.message(RsMessage.credits(CREDITS));
        }
        wire.message(RsMessage.SHUTDOWN);
        while (connection.read(ByteBuffer.allocate(1)) == 0) {
            connection.await(Readiness.READ, 0, TIMEOUT.toNanos(), () -> false);
        }
        assertThat(connection.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        assertThat(connection.write(ByteBuffer.allocate(10))).isEqualTo(10);
        connection.close(TIMEOUT);
    }

    private RsConnection accepted(int mappings) throws Exception {
        Listener<ConnectionRequest> listener = ours.manager().listen(ANY_PORT);
        FutureTask<Established> accepting = inBackground(() -> RsConnector.accept(
                ours,
                listener.awaitRequest(TIMEOUT),
                BufferSizes.defaults().withMappings(mappings),
                TIMEOUT,
                () -> {}));
        try (Route route = theirs.manager().resolve(listener.localAddress(), TIMEOUT)) {
            route.prepare(queuePair);
            wire.receive(CREDITS);
            Connection connection = route.connect(
                    queuePair,
                    ConnectionParameters.defaults()
                            .withPrivateData(data(CREDITS, RING / 2).bytes(56)),
                    TIMEOUT);
            peer = ConnectionData.parse(connection.privateData());
        }
        return accepting.get().connection();
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "1, 1", "1, 0x1fffffff", "128, 128", "256, 256"})
    void aMappingBeyondTheTableEndsTheConnection(int mappings, int index) throws Exception {
        RsConnection connection = accepted(mappings);
        assertThat(peer.mappings()).isEqualTo(mappings);
        wire.message(RsMessage.mapping(index));
        fails(connection, "as number " + index + ", and may use " + mappings);
    }

    /// The table of a peer has the offset, the address, the key and the length.
    @ParameterizedTest
    @CsvSource({"-1, 1", "-9223372036854775808, -1", "9223372036854775807, 1"})
    void aMappingAtAnImpossibleOffsetEndsTheConnection(long offset, int length) throws Exception {
        RsConnection connection = accepted(1);
        memory.sendRing()
                .order(ByteOrder.nativeOrder())
                .putLong(offset)
                .putLong(0)
                .putInt(0)
                .putInt(length);
        wire.data(
                RsMessage.mapping(0),
                Wire.sent(0, 0),
                0,
                ConnectionMemory.MAPPING_BYTES,
                0,
                peer.table(),
                peer.targetKey());
        fails(connection, "at offset " + offset);
    }

    @Test
    void nothingIsPlacedWhereThePeerHasMappedNothing() throws Exception {
        RsConnection connection = accepted(2);
        memory.sendRing()
                .order(ByteOrder.nativeOrder())
                .putLong(1000)
                .putLong(memory.region().address())
                .putInt(memory.region().remoteKey())
                .putInt(100);
        int bytes = ConnectionMemory.MAPPING_BYTES;
        wire.data(RsMessage.mapping(1), Wire.sent(0, 0), 0, bytes, 0, peer.table() + bytes, peer.targetKey());
        wire.message(RsMessage.data(1));
        connection.await(Readiness.READ, 0, TIMEOUT.toNanos(), () -> false);
        for (long offset : new long[] {Long.MIN_VALUE, -1, 0, 999, 1001, 1100, Long.MAX_VALUE}) {
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> connection.place(ByteBuffer.allocate(100), offset))
                    .withMessageContaining("has mapped nothing at offset");
        }
        assertThat(connection.place(ByteBuffer.allocate(100), 1000)).isEqualTo(100);
        assertThat(connection.place(ByteBuffer.allocate(1), 1099)).isEqualTo(1);
        connection.close(TIMEOUT);
    }

    /// What the peer of `connection` must do to write to a mapping.
    private record Mapped(long address, int key) {}

    private Mapped mapped(RsConnection connection, long offset) throws IOException {
        Mapping mapping = connection.map(offset, MAPPED);
        int index = mapping.index();
        long end = System.nanoTime() + TIMEOUT.toNanos();
        while (memory.mappingLength(index) != MAPPED) {
            assertThat(System.nanoTime() - end).isNegative();
            Thread.onSpinWait();
        }
        assertThat(memory.mappingOffset(index)).isEqualTo(offset);
        return new Mapped(memory.mappingAddress(index), memory.mappingKey(index));
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 1, MAPPED, 1 << 20})
    void writingBesideAMappingEndsTheConnectionAndWritesNothing(long distance) throws Exception {
        RsConnection connection = connected();
        Mapped memoryOfOurs = mapped(connection, 0);
        wire.place(0, MAPPED, 0, memoryOfOurs.address() + distance, memoryOfOurs.key());
        fails(connection, "");
    }

    @Test
    void writingWhereNothingIsMappedAnyMoreEndsTheConnection() throws Exception {
        RsConnection connection = connected();
        Mapping mapping = connection.map(0, MAPPED);
        Mapped closed = new Mapped(mapping.region().address(), mapping.region().remoteKey());
        mapping.close();
        wire.place(0, MAPPED, 0, closed.address(), closed.key());
        fails(connection, "");
    }

    @Test
    void thePeerOfOneConnectionCannotWriteTheMemoryOfAnother() throws Exception {
        RsConnection connection = connected();
        try (RsListener listener = RsListener.open(ours, ANY_PORT, 5, BufferSizes.defaults())) {
            RsConnection honest = RsConnector.connect(
                            theirs,
                            listener.localAddress(),
                            IdentifierOptions.none(),
                            BufferSizes.defaults().withMappings(1),
                            TIMEOUT)
                    .connection();
            assertThat(listener.await(TIMEOUT.toNanos())).isTrue();
            RsConnection other = listener.poll().connection();
            Mapping mapping = other.map(0, MAPPED);
            wire.place(0, 10, 0, mapping.region().address(), mapping.region().remoteKey());
            fails(connection, "");
            assertThat(other.write(ByteBuffer.allocate(1))).isEqualTo(1);
            assertThat(honest.await(Readiness.READ, 0, TIMEOUT.toNanos(), () -> false))
                    .isTrue();
            assertThat(honest.place(ByteBuffer.wrap(new byte[] {7}), 0)).isEqualTo(1);
            assertThat(honest.write(ByteBuffer.allocate(1))).isEqualTo(1);
            assertThat(other.await(Readiness.READ, 0, TIMEOUT.toNanos(), () -> false))
                    .isTrue();
            assertThat(mapping.segment().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 7);
            honest.close(TIMEOUT);
            other.close(TIMEOUT);
        }
    }

    @Test
    void thePeerHasRoomForSoManyMappings() throws Exception {
        RsConnection connection = connected();
        Mapping first = connection.map(0, 1);
        connection.map(1, 1);
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> connection.map(2, 1))
                .withMessageContaining("room for 2");
        first.close();
        first.close();
        connection.map(2, 1);
        connection.close(TIMEOUT);
    }

    @Test
    void anEmptyWriteToNoKeyIsASignOfLife() throws Exception {
        RsConnection connection = connected();
        SendBatch batch = SendBatch.create(arena, 1, 1);
        batch.write(1, 0, 0).signaled();
        queuePair.post(batch);
        wire.message(RsMessage.DISCONNECT);
        while (connection.read(ByteBuffer.allocate(1)) == 0) {
            connection.await(Readiness.READ, 0, TIMEOUT.toNanos(), () -> false);
        }
        assertThat(connection.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        connection.close(TIMEOUT);
    }

    @Test
    void aPeerThatVanishesIsAReset() throws Exception {
        RsConnection connection = connected();
        theirs.close();
        fails(connection, "");
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
            try (Route route = theirs.manager().resolve(listener.localAddress(), TIMEOUT)) {
                assertThatExceptionOfType(ConnectionException.class)
                        .isThrownBy(() -> route.connect(
                                queuePair, ConnectionParameters.defaults().withPrivateData(new byte[39]), TIMEOUT));
            }
            Established established = RsConnector.connect(
                    theirs, listener.localAddress(), IdentifierOptions.none(), BufferSizes.defaults(), TIMEOUT);
            assertThat(listener.await(TIMEOUT.toNanos())).isTrue();
            established.connection().close(TIMEOUT);
        }
    }

    @Test
    void closedConnectionsLeaveNothingBehind() throws Exception {
        List<QueuePair> used = new ArrayList<>();
        try (RsListener listener = RsListener.open(ours, ANY_PORT, 5, BufferSizes.defaults())) {
            for (int i = 0; i < 20; i++) {
                Established client = RsConnector.connect(
                        theirs, listener.localAddress(), IdentifierOptions.none(), BufferSizes.defaults(), TIMEOUT);
                assertThat(listener.await(TIMEOUT.toNanos())).isTrue();
                Established server = listener.poll();
                used.add(client.connection().queuePair());
                used.add(server.connection().queuePair());
                assertThat(client.connection().write(ByteBuffer.allocate(100))).isEqualTo(100);
                client.connection().close(TIMEOUT);
                server.connection().close(TIMEOUT);
            }
        }
        long end = System.nanoTime() + TIMEOUT.toNanos();
        while (used.stream().anyMatch(QueuePair::isOpen)) {
            assertThat(System.nanoTime() - end).isNegative();
            Thread.onSpinWait();
        }
    }
}
