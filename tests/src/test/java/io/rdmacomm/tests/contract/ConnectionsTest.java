package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.tests.fixture.ByAddress;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.Deviation;
import io.rdmacomm.tests.fixture.DeviceAddress;
import io.rdmacomm.tests.fixture.Differences;
import io.rdmacomm.tests.fixture.EndQueue;
import io.rdmacomm.tests.fixture.Fabric;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.LocalEnd;
import io.rdmacomm.tests.fixture.LocalMemory;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.AckTimeout;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.RdmaInterruptedException;
import io.rdmacomm.verbs.TransportType;
import io.rdmacomm.verbs.UnsupportedVerbException;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionException;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRejectedException;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.cm.Listener;
import io.rdmacomm.verbs.cm.Route;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/// Connections by address between two contexts of one process. The other cases do not depend on how queue pairs
/// connect.
@ParameterizedClass(name = "{0}")
@MethodSource("io.rdmacomm.tests.fixture.Fabric#providers")
@ExtendWith(LeakCheck.class)
class ConnectionsTest {
    private static final Duration LONG = Duration.ofMillis(EndQueue.TIMEOUT_MILLIS);
    private static final Duration SHORT = Duration.ofMillis(300);
    private static final ConnectionParameters DEFAULTS = ConnectionParameters.defaults();
    private static final int MESSAGE = 64;

    @Parameter
    Fabric fabric;

    private LocalEnd server;
    private LocalEnd client;
    private ConnectionManager serving;
    private ConnectionManager connecting;
    private InetAddress address;

    @BeforeEach
    void open() {
        server = LocalEnd.open(fabric.device());
        client = LocalEnd.open(fabric.device());
        if (!server.context().supports(Capability.CONNECTION_MANAGER)) {
            assertThatThrownBy(() -> ConnectionManager.open(server.context()))
                    .isInstanceOf(UnsupportedVerbException.class);
            System.out.println(fabric + ": CONNECTION_MANAGER is not supported, and opening one is rejected");
            Assumptions.abort(fabric + " has no connection manager");
        }
        serving = ConnectionManager.open(server.context());
        connecting = ConnectionManager.open(client.context());
        address = DeviceAddress.of(server.context());
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
    }

    private Listener<ConnectionRequest> listen() {
        return serving.listen(new InetSocketAddress(address, 0));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /// Private data without the padding of InfiniBand and RoCE.
    private static String text(byte[] data) {
        int length = data.length;
        while (length > 0 && data[length - 1] == 0) {
            length--;
        }
        return new String(data, 0, length, StandardCharsets.UTF_8);
    }

    private static <T> FutureTask<T> start(Callable<T> call) {
        FutureTask<T> task = new FutureTask<>(call);
        Thread.ofVirtual().start(task);
        return task;
    }

    private static void isClosed(ThrowingCallable waiting) {
        assertThatThrownBy(waiting).hasRootCauseInstanceOf(IllegalStateException.class);
    }

    /// Both sides of a connection, with their queue pairs.
    private record Both(LocalQueue here, Connection connection, LocalQueue there, Connection accepted) {
        void message(LocalMemory from, LocalMemory to, long id) {
            there.receive(id, to.piece(0, MESSAGE));
            here.post(Work.send(id, from.piece(0, MESSAGE)));
            assertThat(here.one().status()).isEqualTo(WorkStatus.SUCCESS);
            assertThat(there.one()).extracting(Outcome::id, Outcome::status).containsExactly(id, WorkStatus.SUCCESS);
        }
    }

    private Both connected() {
        LocalQueue there = server.queue(Spec.usual());
        LocalQueue here = client.queue(Spec.usual());
        ConnectionOptions how = ConnectionOptions.defaults();
        ByAddress waiting = ByAddress.await(serving, DeviceAddress.of(server.context()), there.queuePair(), how);
        Connection connection = ByAddress.connect(connecting, here.queuePair(), waiting.address(), how);
        return new Both(here, connection, there, waiting.connection());
    }

    private LocalMemory memory(LocalEnd end) {
        return end.allocate(MESSAGE, AccessFlag.allRemote());
    }

    @Test
    void exchangesPrivateDataAndMessages() throws Exception {
        Listener<ConnectionRequest> listener = listen();
        assertThat(listener.localAddress().getPort()).isPositive();
        LocalQueue there = server.queue(Spec.usual());
        LocalQueue here = client.queue(Spec.usual());
        LocalMemory source = memory(client);
        LocalMemory target = memory(server);
        FutureTask<Connection> accepting = start(() -> {
            try (ConnectionRequest request = listener.awaitRequest(LONG)) {
                assertThat(text(request.privateData())).isEqualTo("hello");
                assertThat(request.localAddress()).isEqualTo(listener.localAddress());
                assertThat(request.responderResources()).isEqualTo(2);
                assertThat(request.initiatorDepth()).isEqualTo(4);
                request.prepare(there.queuePair());
                there.receive(1, target.piece(0, MESSAGE));
                return request.accept(
                        there.queuePair(),
                        DEFAULTS.withPrivateData(bytes("welcome")).withDepths(8, 8),
                        LONG);
            }
        });
        Connection connection;
        try (Route route = connecting.resolve(listener.localAddress(), LONG)) {
            assertThat(route.remoteAddress()).isEqualTo(listener.localAddress());
            route.prepare(here.queuePair());
            here.receive(2, source.piece(0, MESSAGE));
            connection = route.connect(
                    here.queuePair(), DEFAULTS.withPrivateData(bytes("hello")).withDepths(4, 2), LONG);
        }
        Connection accepted = accepting.get();
        assertThat(text(connection.privateData())).isEqualTo("welcome");
        assertThat(text(accepted.privateData())).isEqualTo("hello");
        assertThat(accepted.remoteAddress()).isEqualTo(connection.localAddress());
        assertThat(accepted.responderResources()).isEqualTo(2);
        assertThat(accepted.initiatorDepth()).isEqualTo(4);
        assertThat(connection.initiatorDepth()).isBetween(1, 2);
        assertThat(connection.responderResources()).isBetween(1, 4);
        assertThat(here.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(there.state()).isEqualTo(QueuePairState.READY_TO_SEND);

        source.write(0, bytes("0123456789"));
        here.post(Work.send(3, source.piece(0, 10)));
        assertThat(here.one().status()).isEqualTo(WorkStatus.SUCCESS);
        assertThat(there.one().bytes()).isEqualTo(10);
        assertThat(target.read(0, 10)).isEqualTo(bytes("0123456789"));
        there.post(Work.send(4, target.piece(0, 5)));
        assertThat(there.one().status()).isEqualTo(WorkStatus.SUCCESS);
        assertThat(here.one().bytes()).isEqualTo(5);
    }

    @Test
    void carriesReadsAndWrites() {
        Both both = connected();
        LocalMemory near = memory(client);
        LocalMemory far = memory(server);
        far.write(0, bytes("far away"));
        both.here.post(Work.read(1, far.remote(), near.piece(0, 8)));
        assertThat(both.here.one().status()).isEqualTo(WorkStatus.SUCCESS);
        assertThat(near.read(0, 8)).isEqualTo(bytes("far away"));
        near.write(0, bytes("brought!"));
        both.here.post(Work.write(2, far.remote(), near.piece(0, 8)));
        assertThat(both.here.one().status()).isEqualTo(WorkStatus.SUCCESS);
        assertThat(Deadline.until(EndQueue.TIMEOUT_MILLIS, () -> Arrays.equals(far.read(0, 8), bytes("brought!"))))
                .isTrue();
    }

    @Test
    void timeoutsAreEachSidesOwn() throws Exception {
        if (lacks(
                Capability.CONNECTION_ACK_TIMEOUT,
                () -> connectedWith(IdentifierOptions.none(), DEFAULTS.withAckTimeout(new AckTimeout(17)), DEFAULTS))) {
            return;
        }
        Both both = connectedWith(
                IdentifierOptions.none(),
                DEFAULTS.withAckTimeout(new AckTimeout(17)),
                DEFAULTS.withAckTimeout(new AckTimeout(18)));
        assertThat(both.here.queuePair().query().timeout()).isEqualTo(new AckTimeout(17));
        assertThat(both.there.queuePair().query().timeout()).isEqualTo(new AckTimeout(18));
        both.message(memory(client), memory(server), 1);
    }

    @Test
    void connectsWithATypeOfService() throws Exception {
        IdentifierOptions options = IdentifierOptions.none().withTypeOfService(104);
        if (lacks(Capability.CONNECTION_TYPE_OF_SERVICE, () -> connectedWith(options, DEFAULTS, DEFAULTS))) {
            return;
        }
        Both both = connectedWith(options, DEFAULTS, DEFAULTS);
        both.message(memory(client), memory(server), 1);
        if (fabric.provider().equals("ibverbs")) {
            assertThat(both.here.queuePair().query().addressVector().trafficClass())
                    .isEqualTo(104);
            assertThat(both.there.queuePair().query().addressVector().trafficClass())
                    .as("that of the side that connects")
                    .isEqualTo(104);
        }
    }

    @Test
    void connectsFromAChosenAddress() throws Exception {
        int port = freePort();
        IdentifierOptions options = IdentifierOptions.none().withLocalAddress(new InetSocketAddress(address, port));
        Listener<ConnectionRequest> listener = listen();
        LocalQueue there = server.queue(Spec.usual());
        LocalQueue here = client.queue(Spec.usual());
        FutureTask<InetSocketAddress> accepting = start(() -> {
            try (ConnectionRequest request = listener.awaitRequest(LONG)) {
                var _ = request.accept(there.queuePair(), DEFAULTS, LONG);
                return request.remoteAddress();
            }
        });
        try (Route route = connecting.resolve(listener.localAddress(), options, LONG)) {
            Connection connection = route.connect(here.queuePair(), DEFAULTS, LONG);
            assertThat(connection.localAddress()).isEqualTo(options.localAddress());
            assertThat(accepting.get()).isEqualTo(options.localAddress());
        }
        LocalQueue another = client.queue(Spec.usual());
        assertThatThrownBy(() -> {
                    try (Route route = connecting.resolve(listener.localAddress(), options, LONG)) {
                        route.connect(another.queuePair(), DEFAULTS, LONG);
                    }
                })
                .as("the port is in use")
                .isInstanceOfSatisfying(
                        VerbException.class,
                        failure -> assertThat(failure.errno()).isIn(Errno.EADDRINUSE, Errno.EADDRNOTAVAIL));
        listener.close();
    }

    /// A port where nobody listens.
    private int freePort() {
        try (Listener<ConnectionRequest> listener = listen()) {
            return listener.localAddress().getPort();
        }
    }

    @Test
    void anAddressOfAnotherHostIsNoLocalAddress() {
        IdentifierOptions options = IdentifierOptions.none().withLocalAddress(new InetSocketAddress("192.0.2.1", 0));
        Listener<ConnectionRequest> listener = listen();
        assertThatThrownBy(() -> connecting.resolve(listener.localAddress(), options, LONG))
                .isInstanceOfSatisfying(
                        VerbException.class,
                        failure -> assertThat(failure.errno()).isEqualTo(Errno.EADDRNOTAVAIL))
                .hasMessageContaining("192.0.2.1");
        listener.close();
    }

    /// Whether the device lacks a capability. If so, it must reject the call that needs it.
    private boolean lacks(Capability needed, ThrowingCallable call) {
        if (server.context().supports(needed)) {
            return false;
        }
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        UnsupportedVerbException.class,
                        failure -> assertThat(failure.capability()).isEqualTo(needed))
                .hasMessageContainingAll("rdma_set_option", "leave it out");
        System.out.println(fabric + ": " + needed + " is not supported; the case checks that it is rejected");
        return true;
    }

    private Both connectedWith(IdentifierOptions options, ConnectionParameters mine, ConnectionParameters peers)
            throws Exception {
        Listener<ConnectionRequest> listener = listen();
        LocalQueue there = server.queue(Spec.usual());
        LocalQueue here = client.queue(Spec.usual());
        FutureTask<Connection> accepting = start(() -> {
            try (ConnectionRequest request = listener.awaitRequest(LONG)) {
                return request.accept(there.queuePair(), peers, LONG);
            }
        });
        try (Route route = connecting.resolve(listener.localAddress(), options, LONG)) {
            return new Both(here, route.connect(here.queuePair(), mine, LONG), there, accepting.get());
        } finally {
            listener.close();
        }
    }

    @Test
    void listensWithOptions() throws Exception {
        IdentifierOptions options =
                IdentifierOptions.none().withReuseAddress(true).withAddressFamilyOnly(true);
        Listener<ConnectionRequest> listener =
                serving.listen(new InetSocketAddress(address, 0), ConnectionManager.DEFAULT_BACKLOG, options);
        LocalQueue there = server.queue(Spec.usual());
        LocalQueue here = client.queue(Spec.usual());
        FutureTask<Connection> accepting = start(() -> {
            try (ConnectionRequest request = listener.awaitRequest(LONG)) {
                return request.accept(there.queuePair(), DEFAULTS, LONG);
            }
        });
        assertThat(connecting
                        .connect(listener.localAddress(), here.queuePair(), DEFAULTS, LONG)
                        .isConnected())
                .isTrue();
        assertThat(accepting.get().isConnected()).isTrue();
        assertThatThrownBy(() -> serving.listen(listener.localAddress(), ConnectionManager.DEFAULT_BACKLOG, options))
                .as("only one listens")
                .isInstanceOfSatisfying(
                        VerbException.class,
                        failure -> assertThat(failure.errno()).isEqualTo(Errno.EADDRINUSE));
    }

    @Test
    void aRejectionCarriesPrivateData() throws Exception {
        Listener<ConnectionRequest> listener = listen();
        FutureTask<Void> rejecting = start(() -> {
            try (ConnectionRequest request = listener.awaitRequest(LONG)) {
                request.reject(bytes("no room"));
            }
            return null;
        });
        LocalQueue here = client.queue(Spec.usual());
        assertThatThrownBy(() -> connecting.connect(listener.localAddress(), here.queuePair(), DEFAULTS, LONG))
                .isInstanceOfSatisfying(ConnectionRejectedException.class, refusal -> {
                    assertThat(text(refusal.privateData())).isEqualTo("no room");
                    assertThat(refusal.errno()).isEqualTo(Errno.ECONNREFUSED);
                })
                .hasMessageContaining(String.valueOf(listener.localAddress().getPort()));
        rejecting.get();
    }

    @Test
    void closingARequestRejectsIt() throws Exception {
        Listener<ConnectionRequest> listener = listen();
        FutureTask<Void> closing = start(() -> {
            listener.awaitRequest(LONG).close();
            return null;
        });
        LocalQueue here = client.queue(Spec.usual());
        assertThatThrownBy(() -> connecting.connect(listener.localAddress(), here.queuePair(), DEFAULTS, LONG))
                .isInstanceOf(ConnectionRejectedException.class);
        closing.get();
    }

    @Test
    void failsIfNobodyListens() {
        Listener<ConnectionRequest> listener = listen();
        InetSocketAddress gone = listener.localAddress();
        listener.close();
        LocalQueue here = client.queue(Spec.usual());
        assertThatThrownBy(() -> connecting.connect(gone, here.queuePair(), DEFAULTS, LONG))
                .isInstanceOfSatisfying(
                        ConnectionRejectedException.class,
                        refusal -> assertThat(text(refusal.privateData())).isEmpty())
                .hasMessageContaining("no program listens");
    }

    @Test
    void failsIfTheHostDoesNotExist() throws Exception {
        // Reserved for documentation, RFC 5737.
        InetSocketAddress nowhere =
                new InetSocketAddress(InetAddress.getByAddress(new byte[] {(byte) 192, 0, 2, 1}), 1);
        LocalQueue here = client.queue(Spec.usual());
        assertThatThrownBy(() -> connecting.connect(nowhere, here.queuePair(), DEFAULTS, SHORT))
                .isInstanceOfAny(ConnectionException.class, DeadlineException.class)
                .hasMessageContaining("192.0.2.1");
    }

    @Test
    void failsIfTheRequestIsNotAnswered() throws Exception {
        Listener<ConnectionRequest> listener = listen();
        LocalQueue here = client.queue(Spec.usual());
        assertThatThrownBy(() -> connecting.connect(listener.localAddress(), here.queuePair(), DEFAULTS, SHORT))
                .isInstanceOf(DeadlineException.class)
                .hasMessageContaining(String.valueOf(listener.localAddress().getPort()));
        assertThat(here.state()).isEqualTo(QueuePairState.ERROR);
        LocalQueue there = server.queue(Spec.usual());
        try (ConnectionRequest request = listener.awaitRequest(Duration.ZERO)) {
            // A listener may forget a request whose peer has gone.
            if (request != null
                    && Differences.of(fabric).deviations().contains(Deviation.A_CALL_OUTLIVES_ITS_TIMEOUT)) {
                try (Connection accepted = request.accept(there.queuePair(), DEFAULTS, LONG)) {
                    assertThat(accepted.awaitDisconnect(LONG)).isTrue();
                } catch (ConnectionException | DeadlineException gone) {
                    // By now it has ended in the kernel as well.
                }
            } else if (request != null) {
                assertThatThrownBy(() -> request.accept(there.queuePair(), DEFAULTS, SHORT))
                        .isInstanceOfAny(ConnectionException.class, DeadlineException.class);
                assertThat(there.state()).isNotEqualTo(QueuePairState.READY_TO_SEND);
            }
        }
    }

    @Test
    void awaitingARequestEndsWithItsTimeout() throws Exception {
        Listener<ConnectionRequest> listener = listen();
        assertThat(listener.awaitRequest(Duration.ZERO)).isNull();
        assertThat(listener.awaitRequest(SHORT)).isNull();
    }

    @Test
    void aPortCanBeUsedOnlyOnce() {
        Listener<ConnectionRequest> listener = listen();
        assertThatThrownBy(() -> serving.listen(listener.localAddress()))
                .isInstanceOfSatisfying(
                        VerbException.class,
                        failure -> assertThat(failure.errno()).isEqualTo(Errno.EADDRINUSE));
        InetSocketAddress where = listener.localAddress();
        listener.close();
        serving.listen(where).close();
    }

    @Test
    void rejectsAnAddressOfAnotherHost() throws Exception {
        InetSocketAddress foreign =
                new InetSocketAddress(InetAddress.getByAddress(new byte[] {(byte) 192, 0, 2, 1}), 0);
        assertThatThrownBy(() -> serving.listen(foreign))
                .isInstanceOfSatisfying(
                        VerbException.class,
                        failure -> assertThat(failure.errno()).isEqualTo(Errno.EADDRNOTAVAIL));
    }

    @Test
    void listensOnAllAddressesOfTheDevice() throws Exception {
        Listener<ConnectionRequest> listener = serving.listen(new InetSocketAddress(0));
        LocalQueue there = server.queue(Spec.usual());
        LocalQueue here = client.queue(Spec.usual());
        FutureTask<Connection> accepting = start(() -> {
            try (ConnectionRequest request = listener.awaitRequest(LONG)) {
                return request.accept(there.queuePair(), DEFAULTS, LONG);
            }
        });
        InetSocketAddress where =
                new InetSocketAddress(address, listener.localAddress().getPort());
        assertThat(connecting.connect(where, here.queuePair(), DEFAULTS, LONG).isConnected())
                .isTrue();
        assertThat(accepting.get().isConnected()).isTrue();
    }

    @Test
    void disconnectingFlushesBothSides() throws Exception {
        Both both = connected();
        LocalMemory near = memory(client);
        LocalMemory far = memory(server);
        both.message(near, far, 7);
        for (int id = 1; id <= 3; id++) {
            both.here.receive(id, near.piece(0, MESSAGE));
            both.there.receive(10 + id, far.piece(0, MESSAGE));
        }
        assertThat(both.accepted.awaitDisconnect(Duration.ZERO)).isFalse();
        both.connection.disconnect();
        assertThat(both.connection.isConnected()).isFalse();
        assertThat(both.connection.disconnectReason()).isNotNull();
        assertThat(both.here.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(both.accepted.awaitDisconnect(LONG)).isTrue();
        assertThat(both.accepted.isConnected()).isFalse();
        assertThat(both.accepted.disconnectReason()).isNotNull();
        both.there.awaitState(QueuePairState.ERROR);
        flushed(both.here.drain(3), 1, 2, 3);
        flushed(both.there.drain(3), 11, 12, 13);
        both.connection.disconnect();
        both.accepted.disconnect();
    }

    private static void flushed(List<Outcome> outcomes, long... ids) {
        assertThat(outcomes).allSatisfy(outcome -> assertThat(outcome.status()).isEqualTo(WorkStatus.FLUSHED));
        assertThat(outcomes.stream().mapToLong(Outcome::id).toArray()).isEqualTo(ids);
    }

    @Test
    void sentMessagesArriveBeforeTheDisconnect() throws Exception {
        Both both = connected();
        LocalMemory near = memory(client);
        LocalMemory far = memory(server);
        for (int id = 1; id <= 5; id++) {
            both.there.receive(id, far.piece(0, MESSAGE));
        }
        for (int id = 1; id <= 3; id++) {
            both.here.post(Work.send(id, near.piece(0, MESSAGE)));
            assertThat(both.here.one().status()).isEqualTo(WorkStatus.SUCCESS);
        }
        both.connection.close();
        List<Outcome> outcomes = both.there.drain(5);
        for (int i = 0; i < 5; i++) {
            assertThat(outcomes.get(i).id()).isEqualTo(i + 1);
            assertThat(outcomes.get(i).status()).isEqualTo(i < 3 ? WorkStatus.SUCCESS : WorkStatus.FLUSHED);
        }
    }

    @Test
    void aPeerThatClosesEverythingEndsTheConnection() throws Exception {
        Both both = connected();
        both.there.receive(1, memory(server).piece(0, MESSAGE));
        client.close();
        assertThat(both.accepted.awaitDisconnect(LONG)).isTrue();
        flushed(both.there.drain(1), 1);
    }

    /// An action may block without keeping others from going on.
    @Test
    void theEndOfAConnectionIsAnEvent() throws Exception {
        Both first = connected();
        Both second = connected();
        CountDownLatch begun = new CountDownLatch(1);
        Semaphore released = new Semaphore(0);
        CompletableFuture<Void> blocking = first.accepted.onDisconnect().thenAccept(reason -> {
            begun.countDown();
            released.acquireUninterruptibly();
        });
        CompletableFuture<String> canceled = first.accepted.onDisconnect();
        canceled.cancel(true);
        CompletableFuture<String> far = second.accepted.onDisconnect();
        CompletableFuture<String> near = second.connection.onDisconnect();
        assertThat(List.of(blocking, far, near)).noneMatch(CompletableFuture::isDone);

        first.connection.disconnect();
        assertThat(begun.await(LONG.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
        second.message(memory(client), memory(server), 7);
        assertThat(far).isNotDone();
        second.connection.close();
        assertThat(far).succeedsWithin(LONG).isEqualTo(second.accepted.disconnectReason());
        assertThat(near).succeedsWithin(LONG).isEqualTo(second.connection.disconnectReason());
        assertThat(second.accepted.onDisconnect()).as("later").succeedsWithin(LONG);
        released.release();
        assertThat(blocking).succeedsWithin(LONG);
    }

    @Test
    void theQueuePairMayBeClosedFirst() throws Exception {
        Both both = connected();
        both.here.queuePair().close();
        both.connection.close();
        assertThat(both.accepted.awaitDisconnect(LONG)).isTrue();
    }

    @Test
    void closingWakesWaiters() throws Exception {
        Both both = connected();
        Listener<ConnectionRequest> listener = listen();
        FutureTask<Boolean> ended = start(() -> both.accepted.awaitDisconnect(Duration.ofMinutes(5)));
        FutureTask<ConnectionRequest> arrival = start(() -> listen().awaitRequest(Duration.ofMinutes(5)));
        LocalQueue here = client.queue(Spec.usual());
        FutureTask<Connection> asking = start(
                () -> connecting.connect(listener.localAddress(), here.queuePair(), DEFAULTS, Duration.ofMinutes(5)));
        try (ConnectionRequest request = listener.awaitRequest(LONG)) {
            assertThat(request).as("the other side waits for an answer").isNotNull();
            connecting.close();
            isClosed(asking::get);
            assertThat(ended.get()).isTrue();
            serving.close();
            isClosed(arrival::get);
            assertThat(request.isOpen()).isFalse();
        }
        assertThat(both.here.state()).isEqualTo(QueuePairState.ERROR);
        assertThatThrownBy(this::listen).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void interruptingWakesWaiters() {
        Listener<ConnectionRequest> listener = listen();
        FutureTask<ConnectionRequest> arrival = start(() -> {
            Thread.currentThread().interrupt();
            return listener.awaitRequest(LONG);
        });
        assertThatThrownBy(arrival::get).hasCauseInstanceOf(RdmaInterruptedException.class);
    }

    @Test
    @Tag("slow")
    void opensAHundredConnectionsInSequence() throws Exception {
        Listener<ConnectionRequest> listener = listen();
        LocalMemory near = memory(client);
        LocalMemory far = memory(server);
        for (int i = 0; i < 100; i++) {
            LocalQueue there = server.queue(Spec.usual());
            LocalQueue here = client.queue(Spec.usual());
            FutureTask<Connection> accepting = start(() -> {
                try (ConnectionRequest request = listener.awaitRequest(LONG)) {
                    return request.accept(there.queuePair(), DEFAULTS, LONG);
                }
            });
            try (Connection connection = connecting.connect(listener.localAddress(), here.queuePair(), DEFAULTS, LONG);
                    Connection accepted = accepting.get()) {
                new Both(here, connection, there, accepted).message(near, far, i);
            }
            here.close();
            there.close();
        }
    }

    @Test
    void acceptsManyConnectionsConcurrently() throws Exception {
        int count = 16;
        Listener<ConnectionRequest> listener = listen();
        List<FutureTask<Connection>> both = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            LocalQueue there = server.queue(Spec.usual());
            LocalQueue here = client.queue(Spec.usual());
            both.add(start(() -> {
                try (ConnectionRequest request = listener.awaitRequest(LONG)) {
                    return request.accept(there.queuePair(), DEFAULTS, LONG);
                }
            }));
            both.add(start(() -> connecting.connect(listener.localAddress(), here.queuePair(), DEFAULTS, LONG)));
        }
        for (FutureTask<Connection> one : both) {
            assertThat(one.get().isConnected()).isTrue();
        }
    }

    @Test
    void privateDataUpToTheLimit() throws Exception {
        int limit = connecting.privateDataLimit();
        boolean iwarp = client.context().device().transport() == TransportType.IWARP;
        boolean software = !fabric.provider().equals("ibverbs") && !fabric.isRoce();
        assertThat(limit).isEqualTo(iwarp || software ? 251 : 56);
        byte[] much = new byte[limit];
        Arrays.fill(much, (byte) 'x');
        Listener<ConnectionRequest> listener = listen();
        LocalQueue there = server.queue(Spec.usual());
        LocalQueue here = client.queue(Spec.usual());
        FutureTask<Connection> accepting = start(() -> {
            try (ConnectionRequest request = listener.awaitRequest(LONG)) {
                return request.accept(there.queuePair(), DEFAULTS.withPrivateData(much), LONG);
            }
        });
        Connection connection =
                connecting.connect(listener.localAddress(), here.queuePair(), DEFAULTS.withPrivateData(much), LONG);
        assertThat(text(connection.privateData())).isEqualTo(text(much));
        assertThat(text(accepting.get().privateData())).isEqualTo(text(much));
    }
}
