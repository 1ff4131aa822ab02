package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.soft.roce.mad.ConnectReply;
import io.rdmacomm.soft.roce.mad.ConnectRequest;
import io.rdmacomm.soft.roce.mad.ConnectionMessage;
import io.rdmacomm.soft.roce.mad.DisconnectReply;
import io.rdmacomm.soft.roce.mad.DisconnectRequest;
import io.rdmacomm.soft.roce.mad.MessageKind;
import io.rdmacomm.soft.roce.mad.PortSpace;
import io.rdmacomm.soft.roce.mad.ProgramAddress;
import io.rdmacomm.soft.roce.mad.ReadDepths;
import io.rdmacomm.soft.roce.mad.ReadyToUse;
import io.rdmacomm.soft.roce.mad.Receipt;
import io.rdmacomm.soft.roce.mad.Rejection;
import io.rdmacomm.soft.roce.mad.ServiceReply;
import io.rdmacomm.soft.roce.mad.ServiceRequest;
import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.RdmaInterruptedException;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.ConnectFailedException;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRejectedException;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.DatagramService;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.cm.Listener;
import io.rdmacomm.verbs.cm.PeerUnreachableException;
import io.rdmacomm.verbs.cm.Route;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Connections by address over RoCE v2, and a peer that lies, is late, or says nothing.
@Timeout(120)
class HostileManagerTest extends RoceCase {
    private static final int PORT = 7174;
    private static final int THEIR_ID = 0x5a5a0001;
    private static final long GUID = 0x0200_0000_5a00_0101L;
    /// That of the listener, of which one address may have three quarters.
    private static final int BACKLOG = 400;
    private static final int SHARE = 300;
    private static final Duration LONG = Duration.ofMillis(LONG_MILLIS);
    private static final InetSocketAddress PEER = new InetSocketAddress(InetAddress.ofLiteral(THERE), PORT);
    private static final InetSocketAddress OWN = new InetSocketAddress(InetAddress.ofLiteral(HERE), PORT);
    private static final String FOR_NOBODY = "roce_packets_for_nobody";

    private RawManager raw;
    private ConnectionManager manager;

    HostileManagerTest() {
        super(QueuePairType.RELIABLE_CONNECTED);
    }

    @BeforeEach
    void open() {
        raw = new RawManager(peer);
        manager = ConnectionManager.open(context);
    }

    private QueuePair queuePair() {
        return pair.protectionDomain().createQueuePair(QueuePairOptions.reliable(queue));
    }

    private static <R> CompletableFuture<R> inBackground(Supplier<R> call) {
        return CompletableFuture.supplyAsync(call, Thread::startVirtualThread);
    }

    private CompletableFuture<Connection> connecting(QueuePair with, int fromPort, Duration timeout) {
        InetSocketAddress local = new InetSocketAddress(OWN.getAddress(), fromPort);
        Route route = manager.resolve(PEER, IdentifierOptions.none().withLocalAddress(local), LONG);
        return inBackground(() -> route.connect(with, ConnectionParameters.defaults(), timeout));
    }

    private CompletableFuture<Connection> connecting(QueuePair with, Duration timeout) {
        return connecting(with, 0, timeout);
    }

    private static Throwable failure(CompletableFuture<?> call) {
        try {
            throw new AssertionError("succeeded with " + call.join());
        } catch (CompletionException e) {
            return e.getCause();
        }
    }

    private static ConnectReply reply(int id, ConnectRequest request) {
        return new ConnectReply(id, request.id(), THEIR_NUMBER, 5, new ReadDepths(4, 4), 7, GUID, new byte[0]);
    }

    private static ConnectRequest request(int id) {
        Gid source = Gid.of(InetAddress.ofLiteral(THERE));
        Gid destination = Gid.of(InetAddress.ofLiteral(HERE));
        return new ConnectRequest(
                id,
                PortSpace.CONNECTIONS.service(PORT),
                GUID,
                THEIR_NUMBER,
                5,
                new ReadDepths(4, 4),
                true,
                1,
                7,
                7,
                14,
                0,
                source,
                destination,
                new ProgramAddress(40001, source, destination),
                new byte[0]);
    }

    /// A connection that this side has asked for.
    private Connection connected(QueuePair with, int fromPort) throws IOException {
        CompletableFuture<Connection> connecting = connecting(with, fromPort, LONG);
        raw.send(reply(THEIR_ID, raw.await(ConnectRequest.class)));
        raw.await(ReadyToUse.class);
        return connecting.join();
    }

    // ---- This side asks ----

    @Test
    void theFirstOfTwoRepliesCounts() throws IOException {
        QueuePair own = queuePair();
        CompletableFuture<Connection> connecting = connecting(own, LONG);
        ConnectRequest request = raw.await(ConnectRequest.class);
        assertThat(request.queuePair()).isEqualTo(own.number());
        assertThat(request.source()).isEqualTo(Gid.of(OWN.getAddress()));
        raw.send(reply(THEIR_ID, request));
        raw.send(reply(THEIR_ID + 1, request));
        assertThat(raw.await(ReadyToUse.class)).isEqualTo(new ReadyToUse(request.id(), THEIR_ID));
        Connection connection = connecting.join();
        raw.send(reply(THEIR_ID + 2, request));
        raw.send(reply(THEIR_ID, request));
        assertThat(raw.await(ReadyToUse.class)).isEqualTo(new ReadyToUse(request.id(), THEIR_ID));
        assertThat(raw.receive(SHORT_MILLIS)).isNull();
        assertThat(connection.isConnected()).isTrue();
        assertThat(own.state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    @Test
    void aReplyThatComesTooLateIsRejected() throws IOException {
        QueuePair own = queuePair();
        CompletableFuture<Connection> connecting = connecting(own, Duration.ofMillis(100));
        ConnectRequest request = raw.await(ConnectRequest.class);
        assertThat(failure(connecting)).isInstanceOf(DeadlineException.class).hasMessageContaining("100 ms");
        assertThat(own.state()).isEqualTo(QueuePairState.ERROR);
        Rejection told = raw.await(Rejection.class);
        assertThat(told.reason()).isEqualTo(Rejection.TIMEOUT);
        assertThat(told.guid()).isEqualTo(request.guid()).isNotZero();
        raw.send(reply(THEIR_ID, request));
        Rejection answer = raw.await(Rejection.class);
        assertThat(answer.reason()).isEqualTo(Rejection.UNKNOWN_ID);
        assertThat(answer.peerId()).isEqualTo(THEIR_ID);
    }

    @Test
    void aPeerThatAcknowledgesAndNeverAnswersCostsTheTimeOfTheProgram() throws IOException {
        QueuePair own = queuePair();
        CompletableFuture<Connection> connecting = connecting(own, Duration.ofMillis(700));
        ConnectRequest request = raw.await(ConnectRequest.class);
        raw.send(new Receipt(THEIR_ID, request.id(), MessageKind.REQUEST, 31));
        assertThat(failure(connecting)).isInstanceOf(DeadlineException.class);
        assertThat(own.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(raw.await(Rejection.class).reason()).isEqualTo(Rejection.TIMEOUT);
    }

    @Test
    void aPeerThatSaysNothingIsUnreachable() throws IOException {
        QueuePair own = queuePair();
        CompletableFuture<Connection> connecting = connecting(own, Duration.ofSeconds(30));
        int requests = 0;
        ConnectionMessage message = raw.receive(LONG_MILLIS);
        while (message instanceof ConnectRequest) {
            requests++;
            message = raw.receive(LONG_MILLIS);
        }
        assertThat(requests).isEqualTo(16);
        assertThat(((Rejection) message).reason()).isEqualTo(Rejection.TIMEOUT);
        assertThat(failure(connecting)).isInstanceOf(PeerUnreachableException.class);
        assertThat(own.state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    void aPeerThatGivesUpAfterItsReplyEndsTheConnection() throws IOException {
        QueuePair own = queuePair();
        CompletableFuture<Connection> connecting = connecting(own, LONG);
        ConnectRequest request = raw.await(ConnectRequest.class);
        raw.send(reply(THEIR_ID, request));
        Connection connection = connecting.join();
        raw.send(new Rejection(THEIR_ID, request.id(), MessageKind.OTHER, Rejection.PROGRAM));
        assertThat(connection.awaitDisconnect(LONG)).isTrue();
        assertThat(connection.disconnectReason()).isEqualTo("the peer disconnected");
        assertThat(own.state()).isEqualTo(QueuePairState.ERROR);
    }

    /// The program closes it while it waits, and what the peer says then finds nobody.
    @Test
    void aQueuePairThatIsClosedMeanwhileLeavesNothing() throws IOException {
        QueuePair own = queuePair();
        CompletableFuture<Connection> connecting = connecting(own, PORT, LONG);
        ConnectRequest request = raw.await(ConnectRequest.class);
        own.close();
        raw.send(reply(THEIR_ID, request));
        assertThat(failure(connecting)).isInstanceOf(IllegalStateException.class);
        assertThat(raw.await(Rejection.class).peerId()).isEqualTo(THEIR_ID);
        assertThat(connected(queuePair(), PORT).isConnected()).isTrue();
    }

    @Test
    void aPortIsFreeAgainAfterEachWayToFail() throws IOException {
        for (boolean answers : new boolean[] {true, false}) {
            CompletableFuture<Connection> connecting = connecting(queuePair(), PORT, Duration.ofMillis(200));
            ConnectRequest request = raw.await(ConnectRequest.class);
            if (answers) {
                raw.send(new Rejection(0, request.id(), MessageKind.REQUEST, Rejection.STALE));
                assertThat(failure(connecting))
                        .isInstanceOf(ConnectionRejectedException.class)
                        .hasMessageContaining("it still knows this queue pair");
            } else {
                assertThat(failure(connecting)).isInstanceOf(DeadlineException.class);
            }
        }
        assertThat(connected(queuePair(), PORT).localAddress().getPort()).isEqualTo(PORT);
    }

    /// Its port may belong to another connection by then.
    @Test
    void aConnectionThatEndsTwiceReturnsItsPortOnce() throws IOException {
        Connection first = connected(queuePair(), PORT);
        first.disconnect();
        Connection second = connected(queuePair(), PORT);
        first.disconnect();
        first.close();
        assertThat(failure(connecting(queuePair(), PORT, LONG)))
                .isInstanceOfSatisfying(
                        VerbException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE));
        assertThat(second.isConnected()).isTrue();
        second.close();
        assertThat(connected(queuePair(), PORT).isConnected()).isTrue();
    }

    /// Neither the socket nor the selector of others is closed by it.
    @Test
    void aThreadThatIsInterruptedAlreadyLeavesEverythingToOthers() throws IOException {
        Connection established = connected(queuePair(), 0);
        Route route = manager.resolve(PEER, LONG);
        QueuePair own = queuePair();
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> route.connect(own, ConnectionParameters.defaults(), LONG))
                .isInstanceOf(RdmaInterruptedException.class);
        Thread.currentThread().interrupt();
        established.disconnect();
        assertThat(Thread.interrupted()).isTrue();
        raw.await(ConnectRequest.class);
        raw.await(Rejection.class);
        raw.await(DisconnectRequest.class);
        assertThat(connected(queuePair(), 0).isConnected()).isTrue();
    }

    // ---- A peer asks ----

    private ConnectionRequest requested(Listener<ConnectionRequest> listener, int id) throws IOException {
        raw.send(request(id));
        ConnectionRequest request = listener.awaitRequest(LONG);
        assertThat(request).isNotNull();
        return request;
    }

    private static final class Timed {
        private final long began = System.nanoTime();

        long millis() {
            return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
        }
    }

    @Test
    void aPeerThatNeverConfirmsCostsTheTimeOfTheProgram() throws IOException {
        Listener<ConnectionRequest> listener = manager.listen(OWN);
        ConnectionRequest request = requested(listener, THEIR_ID);
        QueuePair own = queuePair();
        Timed timed = new Timed();
        assertThatThrownBy(() -> request.accept(own, ConnectionParameters.defaults(), Duration.ofMillis(500)))
                .isInstanceOf(DeadlineException.class)
                .hasMessageContaining("500 ms");
        assertThat(timed.millis()).isBetween(500L, (long) LONG_MILLIS);
        assertThat(own.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(raw.await(ConnectReply.class).queuePair()).isEqualTo(own.number());
        Rejection told = raw.await(Rejection.class);
        assertThat(told.peerId()).isEqualTo(THEIR_ID);
        assertThat(told.refused()).isEqualTo(MessageKind.OTHER);
    }

    @Test
    void aPeerThatNeverConfirmsIsGivenUpBeforeTheProgramGivesUp() throws IOException {
        Listener<ConnectionRequest> listener = manager.listen(OWN);
        ConnectionRequest request = requested(listener, THEIR_ID);
        QueuePair own = queuePair();
        Timed timed = new Timed();
        assertThatThrownBy(() -> request.accept(own, ConnectionParameters.defaults(), Duration.ofSeconds(60)))
                .isInstanceOfSatisfying(
                        ConnectFailedException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ETIMEDOUT));
        assertThat(timed.millis()).isBetween(4_800L, 30_000L);
        assertThat(own.state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    void aPeerThatHasGivenUpIsReportedAtOnce() throws IOException {
        Listener<ConnectionRequest> listener = manager.listen(OWN);
        ConnectionRequest request = requested(listener, THEIR_ID);
        long before = counter("roce_packets_received");
        raw.send(new Rejection(THEIR_ID, 0, MessageKind.OTHER, Rejection.TIMEOUT));
        await("it has come", () -> counter("roce_packets_received") == before + 1);
        QueuePair own = queuePair();
        assertThatThrownBy(() -> request.accept(own, ConnectionParameters.defaults(), LONG))
                .isInstanceOf(ConnectFailedException.class)
                .hasMessageContaining("gave up");
        assertThat(own.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(raw.receive(SHORT_MILLIS)).isNull();
    }

    /// A connection that has ended is one that the program gets, and is told of.
    @Test
    void anEndThatOvertakesTheConfirmationIsTheEndOfAConnection() throws IOException {
        Listener<ConnectionRequest> listener = manager.listen(OWN);
        ConnectionRequest request = requested(listener, THEIR_ID);
        QueuePair own = queuePair();
        CompletableFuture<Connection> accepting =
                inBackground(() -> request.accept(own, ConnectionParameters.defaults(), LONG));
        ConnectReply reply = raw.await(ConnectReply.class);
        raw.send(new DisconnectRequest(THEIR_ID, reply.id(), own.number()));
        raw.await(DisconnectReply.class);
        Connection connection = accepting.join();
        assertThat(connection.awaitDisconnect(LONG)).isTrue();
        assertThat(own.state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    void whatWaitsIsRejectedWhenTheContextIsClosed() throws IOException {
        Listener<ConnectionRequest> listener = manager.listen(OWN);
        requested(listener, THEIR_ID);
        long before = counter("roce_packets_received");
        raw.send(request(THEIR_ID + 1));
        await("it has come", () -> counter("roce_packets_received") == before + 1);
        context.close();
        assertThat(raw.await(Rejection.class).reason()).isEqualTo(Rejection.PROGRAM);
        assertThat(raw.await(Rejection.class).reason()).isEqualTo(Rejection.PROGRAM);
    }

    @Test
    void connectingEndsWhenTheContextIsClosed() throws IOException {
        CompletableFuture<Connection> connecting = connecting(queuePair(), LONG);
        raw.await(ConnectRequest.class);
        context.close();
        assertThat(failure(connecting)).isInstanceOf(IllegalStateException.class);
        assertThat(raw.await(Rejection.class).reason()).isEqualTo(Rejection.TIMEOUT);
    }

    @Test
    void acceptingEndsWhenTheContextIsClosed() throws IOException {
        Listener<ConnectionRequest> listener = manager.listen(OWN);
        ConnectionRequest request = requested(listener, THEIR_ID);
        QueuePair own = queuePair();
        CompletableFuture<Connection> accepting =
                inBackground(() -> request.accept(own, ConnectionParameters.defaults(), LONG));
        raw.await(ConnectReply.class);
        context.close();
        assertThat(failure(accepting)).isInstanceOf(IllegalStateException.class);
        assertThat(raw.await(Rejection.class).refused()).isEqualTo(MessageKind.OTHER);
    }

    // ---- The end ----

    @Test
    void strangersCannotEndAConnection() throws IOException {
        QueuePair own = queuePair();
        CompletableFuture<Connection> connecting = connecting(own, LONG);
        ConnectRequest request = raw.await(ConnectRequest.class);
        raw.send(reply(THEIR_ID, request));
        raw.await(ReadyToUse.class);
        Connection connection = connecting.join();
        DisconnectRequest end = new DisconnectRequest(THEIR_ID, request.id(), own.number());
        long before = counter(FOR_NOBODY);
        try (RawRoce stranger = new RawRoce("127.0.0.83", HERE)) {
            RawManager other = new RawManager(stranger);
            other.send(end);
            other.await(DisconnectReply.class);
            other.send(new Rejection(THEIR_ID, request.id(), MessageKind.OTHER, Rejection.PROGRAM));
            await("both are for nobody", () -> counter(FOR_NOBODY) == before + 2);
        }
        assertThat(connection.isConnected()).isTrue();
        raw.send(end);
        raw.await(DisconnectReply.class);
        assertThat(connection.awaitDisconnect(LONG)).isTrue();
    }

    /// The owner has closed the queue pair, or reset it, before the connection ends.
    @Test
    void theEndIsReportedWhateverHasBecomeOfTheQueuePair() throws IOException {
        for (boolean closed : new boolean[] {true, false}) {
            QueuePair own = queuePair();
            CompletableFuture<Connection> connecting = connecting(own, LONG);
            ConnectRequest request = raw.await(ConnectRequest.class);
            raw.send(reply(THEIR_ID, request));
            raw.await(ReadyToUse.class);
            Connection connection = connecting.join();
            if (closed) {
                own.close();
            } else {
                own.modify(new QueuePairAttributes().state(QueuePairState.RESET));
            }
            raw.send(new DisconnectRequest(THEIR_ID, request.id(), request.queuePair()));
            assertThat(connection
                            .onDisconnect()
                            .orTimeout(LONG_MILLIS, TimeUnit.MILLISECONDS)
                            .join())
                    .isEqualTo("the peer disconnected");
            connection.close();
        }
    }

    /// A peer that has not got the end of a connection is told again, as long as the address has any context.
    @Test
    void theEndIsRepeatedAlsoWhenItsContextIsClosed() throws IOException {
        try (Context other = Soft.open("roce3=" + HERE + "?transport=roce")) {
            var _ = connected(queuePair(), 0);
            context.close();
            for (int i = 0; i < 4; i++) {
                assertThat(raw.await(DisconnectRequest.class).peerId()).isEqualTo(THEIR_ID);
            }
            assertThat(other.isOpen()).isTrue();
        }
    }

    /// Opened while the messages of the first one are repeated.
    @Test
    void theEndIsRepeatedByAContextThatIsOpenedLater() throws IOException {
        Connection connection = connected(queuePair(), 0);
        connection.disconnect();
        raw.await(DisconnectRequest.class);
        try (Context other = Soft.open("roce3=" + HERE + "?transport=roce")) {
            context.close();
            for (int i = 0; i < 4; i++) {
                raw.await(DisconnectRequest.class);
            }
            assertThat(other.isOpen()).isTrue();
        }
    }

    // ---- Datagrams that are none ----

    @Test
    void whatIsNoManagementDatagramIsCountedAndDropped() throws IOException {
        Listener<ConnectionRequest> listener = manager.listen(OWN);
        long count = counter(FOR_NOBODY);
        byte[] right = RawManager.bytes(request(THEIR_ID));
        Packet wrongKey = RawManager.packet();
        wrongKey.queueKey = 0x0123_4567;
        peer.send(wrongKey, right, 0);
        count++;
        for (int length : new int[] {0, 4, 24, 252, 260, 1024}) {
            byte[] bytes = Arrays.copyOf(right, length);
            peer.send(RawManager.packet(), bytes, 0);
            count++;
        }
        Random random = new Random(1);
        for (int i = 0; i < 50; i++) {
            byte[] garbage = new byte[right.length];
            random.nextBytes(garbage);
            peer.send(RawManager.packet(), garbage, 0);
            count++;
        }
        for (int at = 0; at < 4; at++) {
            byte[] bytes = right.clone();
            bytes[at] ^= 0x10;
            peer.send(RawManager.packet(), bytes, 0);
            count++;
        }
        Packet reliable = packet(0x04, 0);
        reliable.destination = 1;
        peer.send(reliable, right, 0);
        count++;
        long expected = count;
        await("all are for nobody", () -> counter(FOR_NOBODY) == expected);
        assertThat(raw.receive(SHORT_MILLIS)).as("an answer").isNull();
        assertThat(listener.awaitRequest(Duration.ZERO)).isNull();
        requested(listener, THEIR_ID).close();
        assertThat(counter(FOR_NOBODY)).isEqualTo(expected);
    }

    /// Messages that make sense, with numbers that do not.
    @Test
    void randomMessagesBreakNothing() throws IOException {
        long seed = System.nanoTime();
        Listener<ConnectionRequest> listener = manager.listen(OWN);
        QueuePair own = queuePair();
        CompletableFuture<Connection> connecting = connecting(own, LONG);
        ConnectRequest request = raw.await(ConnectRequest.class);
        raw.send(reply(THEIR_ID, request));
        raw.await(ReadyToUse.class);
        Connection connection = connecting.join();
        Random random = new Random(seed);
        for (int i = 0; i < 2000; i++) {
            byte[] bytes = new byte[256];
            random.nextBytes(bytes);
            ByteBuffer message = ByteBuffer.wrap(bytes);
            message.putInt(0, 0x01070203).putShort(16, (short) (0x10 + random.nextInt(9)));
            if (random.nextBoolean()) {
                message.putInt(24 + 4, request.id());
            }
            long before = counter("roce_packets_received");
            peer.send(RawManager.packet(), bytes, 0);
            await("it has come, seed " + seed, () -> counter("roce_packets_received") > before);
            while (raw.receive(0) != null) {
                // Whatever it is.
            }
        }
        assertThat(connection.isConnected()).as("seed " + seed).isTrue();
        assertThat(listener.awaitRequest(Duration.ZERO)).as("seed " + seed).isNull();
        requested(listener, 1).close();
    }

    // ---- A flood ----

    @Test
    void aFloodOfRequestsFillsTheBacklogAndNothingElse() throws Exception {
        Listener<ConnectionRequest> listener = manager.listen(OWN, BACKLOG);
        Connection established = connected(queuePair(), 0);
        long before = counter("roce_packets_received");
        long strays = counter(FOR_NOBODY);
        int most = 10_000;
        for (int id = 1; id <= most; id++) {
            raw.send(request(id));
            if (id % 50 == 0) {
                long expected = before + id;
                await("they have come", () -> counter("roce_packets_received") >= expected);
            }
        }
        assertThat(counter(FOR_NOBODY)).isEqualTo(strays);
        assertThat(established.isConnected()).isTrue();
        try (Context good = Soft.open("roce4=127.0.0.84?transport=roce");
                ConnectionManager from = ConnectionManager.open(good)) {
            QueuePair theirs = good.allocateProtectionDomain()
                    .createQueuePair(QueuePairOptions.reliable(
                            good.createCompletionQueue(CompletionQueueOptions.ofCapacity(8))));
            CompletableFuture<Connection> connecting = inBackground(
                    () -> from.connect(OWN, theirs, ConnectionParameters.defaults(), Duration.ofSeconds(30)));
            Connection accepted = acceptFromOthers(listener);
            assertThat(accepted.remoteAddress().getAddress().getHostAddress()).isEqualTo("127.0.0.84");
            assertThat(connecting.get(LONG_MILLIS, TimeUnit.MILLISECONDS).isConnected())
                    .isTrue();
        }
        assertThat(established.isConnected()).isTrue();
    }

    /// Rejects what the flood has left, and accepts the first request of somebody else.
    private Connection acceptFromOthers(Listener<ConnectionRequest> listener) {
        int rejected = 0;
        while (true) {
            ConnectionRequest next = listener.awaitRequest(LONG);
            assertThat(next).isNotNull();
            if (!next.remoteAddress().getAddress().equals(PEER.getAddress())) {
                assertThat(rejected).isEqualTo(SHARE);
                return next.accept(queuePair(), ConnectionParameters.defaults(), LONG);
            }
            next.close();
            rejected++;
        }
    }

    // ---- Datagram services ----

    @Test
    void aServiceIsFoundByTheFirstAnswerOfTheRightPeer() throws IOException {
        CompletableFuture<DatagramService> looking = inBackground(() -> manager.lookUp(PEER, new byte[] {1}, LONG));
        ServiceRequest question = raw.await(ServiceRequest.class);
        ServiceReply answer =
                new ServiceReply(question.id(), ServiceReply.FOUND, 0x55, question.service(), 0x0123_4567, new byte[0]);
        try (RawRoce stranger = new RawRoce("127.0.0.83", HERE)) {
            long before = counter(FOR_NOBODY);
            new RawManager(stranger).send(new ServiceReply(question.id(), 0, 0x66, question.service(), 1, new byte[0]));
            await("it is for nobody", () -> counter(FOR_NOBODY) == before + 1);
        }
        raw.send(answer);
        assertThat(looking.join().target().queuePairNumber()).isEqualTo(0x55);
    }

    @Test
    void anUnknownStatusOfAServiceIsARejection() throws IOException {
        CompletableFuture<DatagramService> looking = inBackground(() -> manager.lookUp(PEER, new byte[0], LONG));
        ServiceRequest question = raw.await(ServiceRequest.class);
        raw.send(new ServiceReply(question.id(), 255, 0, question.service(), 0, new byte[0]));
        assertThat(failure(looking))
                .isInstanceOf(ConnectionRejectedException.class)
                .hasMessageContaining("status 255");
    }
}
