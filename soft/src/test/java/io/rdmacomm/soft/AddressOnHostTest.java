package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.soft.cm.Wire;
import io.rdmacomm.soft.iwarp.MpaFrame;
import io.rdmacomm.soft.iwarp.MpaNegotiation;
import io.rdmacomm.soft.iwarp.PeerHandshake;
import io.rdmacomm.soft.iwarp.QueuePairAddress;
import io.rdmacomm.soft.tcp.LinkTerms;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.RdmaInterruptedException;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.cm.ConnectFailedException;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.Listener;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HexFormat;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Two ends that connect by address agree to use shared memory. Peers that break the rules get no connection.
class AddressOnHostTest {
    private static final Duration LONG = AddressEnd.LONG;
    private static final Duration SHORT = Duration.ofMillis(300);
    private static final ConnectionParameters DEFAULTS = ConnectionParameters.defaults();
    private static final String TCP_ONLY = "soft0=127.0.0.1?sharedMemory=false";

    private AddressEnd server;
    private Listener<ConnectionRequest> listener;

    @BeforeEach
    void open() {
        server = new AddressEnd();
        listener = server.manager.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 8);
    }

    @AfterEach
    void close() {
        server.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void oneSideWithoutSharedMemoryIsEnoughForTcp(boolean clientShares) throws Exception {
        if (clientShares) {
            server.close();
            server = new AddressEnd(TCP_ONLY);
            listener = server.manager.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 8);
        }
        try (AddressEnd client = new AddressEnd(clientShares ? "soft0=127.0.0.1" : TCP_ONLY)) {
            CompletableFuture<Connection> connecting = AddressEnd.async(
                    () -> client.manager.connect(listener.localAddress(), client.pair, DEFAULTS, LONG));
            accept(LONG);
            connecting.get(20, TimeUnit.SECONDS);
            server.receive(1, 10);
            client.post(client.batch().send(2).with(client.region, 0, 10).signaled());
            server.succeeded(1);
            client.succeeded(2);
            assertThat(client.context.counters(1)).containsEntry("tcp_links", 1L);
        }
    }

    @Test
    void aContextConnectsToItself() throws Exception {
        try (AddressEnd other = new AddressEnd()) {
            Listener<ConnectionRequest> own =
                    other.manager.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1);
            QueuePair second = other.domain.createQueuePair(QueuePairOptions.reliable(other.queue));
            CompletableFuture<Connection> connecting =
                    AddressEnd.async(() -> other.manager.connect(own.localAddress(), other.pair, DEFAULTS, LONG));
            Connection passive = own.awaitRequest(LONG).accept(second, DEFAULTS, LONG);
            Connection active = connecting.get(20, TimeUnit.SECONDS);
            other.post(other.batch()
                    .write(2, other.region.address() + AddressEnd.HALF, other.region.remoteKey())
                    .with(other.region, 0, 10)
                    .signaled());
            other.succeeded(2);
            active.disconnect();
            assertThat(passive.awaitDisconnect(LONG)).isTrue();
        }
    }

    // ---- Initiators that lie ----

    /// An initiator that says what a test wants after a right request.
    private record Liar(Wire wire, PeerHandshake offer) {
        static Liar call(Listener<ConnectionRequest> listener) throws Exception {
            Wire wire = Wire.to(listener.localAddress());
            wire.send(hex(new MpaNegotiation(false, 1, 1).request(new byte[0]).askingForHandshake()));
            return new Liar(wire, null);
        }

        Liar readOffer() throws Exception {
            byte[] reply = HexFormat.of().parseHex(wire.readFrame());
            PeerHandshake found = PeerHandshake.find(reply);
            assertThat(found).isNotNull();
            assertThat(found.namesHost()).isTrue();
            return new Liar(wire, found);
        }

        void answer(PeerHandshake answer) throws Exception {
            wire.send(hex(new MpaNegotiation(false, 0, 0).plainRequest(answer.appendTo(new byte[0]))));
        }

        /// The right answer of a queue pair with this number in this context.
        PeerHandshake right(AddressEnd end, UUID identity) {
            SoftContext context = Soft.of(end.context);
            return new PeerHandshake(
                    MpaFrame.Kind.REQUEST,
                    PeerHandshake.Verdict.USE_SHARED_MEMORY,
                    LinkTerms.FEATURES,
                    LinkTerms.LONGEST_SEGMENT,
                    offer.nonce(),
                    identity,
                    /* source= */ new QueuePairAddress(context.queryGid(1, 0), context.lid(), end.pair.number()),
                    /* firstPsn= */ offer.expectedPsn(),
                    /* expectedPsn= */ offer.firstPsn(),
                    /* destination= */ offer.source());
        }
    }

    private static String hex(MpaFrame frame) {
        ByteBuffer bytes = frame.encode();
        byte[] all = new byte[bytes.remaining()];
        bytes.get(all);
        return HexFormat.of().formatHex(all);
    }

    private static Stream<Named<UnaryOperator<PeerHandshake>>> lies() {
        return Stream.of(
                Named.of(
                        "another nonce",
                        right -> with(right, right.nonce() + 1, right.host(), right.source(), right.destination())),
                Named.of(
                        "another context",
                        right -> with(right, right.nonce(), UUID.randomUUID(), right.source(), right.destination())),
                Named.of(
                        "a context that is not there",
                        right -> from(right, right.source().gid(), 0x3fff)),
                Named.of(
                        "another device",
                        right -> from(right, new Gid(1, 2), right.source().lid())),
                Named.of(
                        "another destination",
                        right -> with(
                                right,
                                right.nonce(),
                                right.host(),
                                right.source(),
                                new QueuePairAddress(
                                        right.destination().gid(),
                                        right.destination().lid(),
                                        0x42))));
    }

    private static PeerHandshake from(PeerHandshake right, Gid gid, int lid) {
        QueuePairAddress source = new QueuePairAddress(gid, lid, right.source().number());
        return with(right, right.nonce(), right.host(), source, right.destination());
    }

    private static PeerHandshake with(
            PeerHandshake from, long nonce, UUID host, QueuePairAddress source, QueuePairAddress destination) {
        return new PeerHandshake(
                from.kind(),
                from.verdict(),
                from.features(),
                from.longestSegment(),
                nonce,
                host,
                source,
                from.firstPsn(),
                from.expectedPsn(),
                destination);
    }

    private Connection accept(Duration timeout) throws InterruptedException {
        ConnectionRequest request = listener.awaitRequest(LONG);
        assertThat(request).isNotNull();
        return request.accept(server.pair, DEFAULTS, timeout);
    }

    private static Throwable failure(CompletableFuture<?> task) throws Exception {
        try {
            throw new AssertionError("it was successful: " + task.get(20, TimeUnit.SECONDS));
        } catch (ExecutionException e) {
            return e.getCause();
        }
    }

    @ParameterizedTest
    @MethodSource("lies")
    void anAnswerThatLies(UnaryOperator<PeerHandshake> lie) throws Exception {
        try (AddressEnd end = new AddressEnd()) {
            Liar liar = Liar.call(listener);
            CompletableFuture<Connection> accepting = AddressEnd.async(() -> accept(LONG));
            liar = liar.readOffer();
            UUID identity = Soft.of(end.context).control().identity();
            liar.answer(lie.apply(liar.right(end, identity)));
            assertThat(failure(accepting))
                    .isInstanceOfSatisfying(
                            ConnectFailedException.class,
                            e -> assertThat(e.errno()).isEqualTo(Errno.ECONNRESET));
            assertThat(liar.wire().isEnded()).isTrue();
            assertThat(server.pair.state()).isEqualTo(QueuePairState.INIT);
        }
    }

    @Test
    void theRightAnswerIsConfirmed() throws Exception {
        try (AddressEnd end = new AddressEnd()) {
            Liar liar = Liar.call(listener);
            CompletableFuture<Connection> accepting = AddressEnd.async(() -> accept(LONG));
            liar = liar.readOffer();
            liar.answer(liar.right(end, Soft.of(end.context).control().identity()));
            assertThat(liar.wire().readFrame()).startsWith(Wire.REPLY);
            Connection accepted = accepting.get(20, TimeUnit.SECONDS);
            server.receive(7, 10);
            // It ends without a farewell, as if its process had died.
            liar.wire().close();
            assertThat(accepted.awaitDisconnect(LONG)).isTrue();
            assertThat(accepted.disconnectReason()).isEqualTo("the connection to the peer was lost");
            assertThat(server.next().status()).isEqualTo(WorkStatus.FLUSHED);
            assertThat(server.context.awaitAsyncEvent(LONG)).isNotNull();
        }
    }

    @Test
    void anInitiatorThatDoesNotAnswer() throws Exception {
        Liar liar = Liar.call(listener);
        assertThatThrownBy(() -> accept(SHORT))
                .isInstanceOf(DeadlineException.class)
                .hasMessageContaining("300 ms");
        liar.readOffer();
        assertThat(liar.wire().isEnded()).isTrue();
    }

    @Test
    void anInitiatorThatAnswersWithSomethingElse() throws Exception {
        Liar liar = Liar.call(listener);
        CompletableFuture<Connection> accepting = AddressEnd.async(() -> accept(LONG));
        liar.readOffer();
        liar.wire().send("00".repeat(40));
        assertThat(failure(accepting)).isInstanceOf(ConnectFailedException.class);
    }

    @Test
    void anInitiatorThatGoesAway() throws Exception {
        Liar liar = Liar.call(listener);
        CompletableFuture<Connection> accepting = AddressEnd.async(() -> accept(LONG));
        liar.readOffer();
        liar.wire().close();
        assertThat(failure(accepting)).isInstanceOf(ConnectFailedException.class);
    }

    @Test
    void closingTheRequestEndsTheWaitForAnAnswer() throws Exception {
        Liar liar = Liar.call(listener);
        ConnectionRequest request = listener.awaitRequest(LONG);
        CompletableFuture<Connection> accepting = AddressEnd.async(() -> request.accept(server.pair, DEFAULTS, LONG));
        liar.readOffer();
        request.close();
        assertThat(failure(accepting)).isInstanceOf(IllegalStateException.class);
        assertThat(liar.wire().isEnded()).isTrue();
    }

    /// At any moment, before the reply and after it.
    @RepeatedTest(40)
    void closingTheRequestEndsAnAccept(RepetitionInfo repetition) throws Exception {
        Liar liar = Liar.call(listener);
        ConnectionRequest request = listener.awaitRequest(LONG);
        CompletableFuture<Connection> accepting = AddressEnd.async(() -> request.accept(server.pair, DEFAULTS, LONG));
        LockSupport.parkNanos(repetition.getCurrentRepetition() * 20_000L);
        request.close();
        assertThat(failure(accepting)).isInstanceOf(IllegalStateException.class);
        liar.wire().close();
    }

    @Test
    void anInterruptEndsTheWaitForAnAnswer() throws Exception {
        Liar liar = Liar.call(listener);
        AtomicReference<Thread> acceptor = new AtomicReference<>();
        CompletableFuture<Connection> accepting = AddressEnd.async(() -> {
            acceptor.set(Thread.currentThread());
            return accept(LONG);
        });
        liar.readOffer();
        acceptor.get().interrupt();
        assertThat(failure(accepting)).isInstanceOf(RdmaInterruptedException.class);
        assertThat(liar.wire().isEnded()).isTrue();
    }

    // ---- Responders that lie ----

    /// A responder whose reply names this context, and which says nothing more.
    private static Wire offer(ServerSocket socket, QueuePairAddress source, UUID identity) throws Exception {
        Wire wire = new Wire(socket.accept());
        wire.readFrame();
        PeerHandshake offer = new PeerHandshake(
                MpaFrame.Kind.REPLY,
                PeerHandshake.Verdict.ACCEPTED,
                LinkTerms.FEATURES,
                LinkTerms.LONGEST_SEGMENT,
                1,
                identity,
                source,
                5,
                6,
                QueuePairAddress.NONE);
        wire.send(hex(MpaFrame.of(MpaFrame.Kind.REPLY, null, false, offer.appendTo(new byte[0]))));
        return wire;
    }

    private QueuePairAddress addressOfServer() {
        SoftContext context = Soft.of(server.context);
        return new QueuePairAddress(context.queryGid(1, 0), context.lid(), server.pair.number());
    }

    @Test
    void anOfferOfAContextThatIsNotThereMeansTcp() throws Exception {
        try (ServerSocket socket = Wire.listen();
                AddressEnd client = new AddressEnd()) {
            CompletableFuture<Connection> connecting =
                    AddressEnd.async(() -> client.manager.connect(Wire.addressOf(socket), client.pair, DEFAULTS, LONG));
            try (Wire wire = offer(socket, addressOfServer(), UUID.randomUUID())) {
                PeerHandshake answer = PeerHandshake.find(HexFormat.of().parseHex(wire.readFrame()));
                assertThat(answer.verdict()).isEqualTo(PeerHandshake.Verdict.ACCEPTED);
                assertThat(connecting.get(20, TimeUnit.SECONDS).isConnected()).isTrue();
            }
        }
    }

    @Test
    void aResponderThatDoesNotConfirm() throws Exception {
        try (ServerSocket socket = Wire.listen();
                AddressEnd client = new AddressEnd()) {
            CompletableFuture<Connection> connecting = AddressEnd.async(
                    () -> client.manager.connect(Wire.addressOf(socket), client.pair, DEFAULTS, Duration.ofSeconds(1)));
            try (Wire wire = offer(
                    socket, addressOfServer(), Soft.of(server.context).control().identity())) {
                assertThat(failure(connecting)).isInstanceOf(DeadlineException.class);
                wire.readFrame();
                assertThat(wire.isEnded()).isTrue();
                assertThat(client.pair.state()).isEqualTo(QueuePairState.ERROR);
            }
        }
    }

    @Test
    void closingTheManagerEndsTheWaitForAConfirmation() throws Exception {
        try (ServerSocket socket = Wire.listen();
                AddressEnd client = new AddressEnd()) {
            CompletableFuture<Connection> connecting =
                    AddressEnd.async(() -> client.manager.connect(Wire.addressOf(socket), client.pair, DEFAULTS, LONG));
            try (Wire wire = offer(
                    socket, addressOfServer(), Soft.of(server.context).control().identity())) {
                wire.readFrame();
                client.manager.close();
                assertThat(failure(connecting)).isInstanceOf(IllegalStateException.class);
                assertThat(wire.isEnded()).isTrue();
            }
        }
    }
}
