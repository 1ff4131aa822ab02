package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.soft.cm.Wire;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.cm.ConnectFailedException;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRejectedException;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.Listener;
import io.rdmacomm.verbs.cm.Route;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Two software devices that connect by address, over shared memory and over TCP.
@ParameterizedClass(name = "sharedMemory={0}")
@ValueSource(booleans = {true, false})
class SoftConnectionTest {
    private static final Duration LONG = AddressEnd.LONG;
    private static final ConnectionParameters DEFAULTS = ConnectionParameters.defaults();

    @Parameter
    private boolean sharedMemory;

    private AddressEnd server;
    private AddressEnd client;
    private Listener<ConnectionRequest> listener;

    @BeforeEach
    void open() {
        server = new AddressEnd(settings());
        client = new AddressEnd(settings());
        listener = server.manager.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 8);
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
    }

    private String settings() {
        return "soft0=127.0.0.1?sharedMemory=" + sharedMemory;
    }

    private CompletableFuture<Connection> connecting(ConnectionParameters parameters) {
        return AddressEnd.async(() -> client.manager.connect(listener.localAddress(), client.pair, parameters, LONG));
    }

    private ConnectionRequest request() throws InterruptedException {
        ConnectionRequest request = listener.awaitRequest(LONG);
        assertThat(request).isNotNull();
        return request;
    }

    private static Connection get(CompletableFuture<Connection> connecting) throws Exception {
        return connecting.get(20, TimeUnit.SECONDS);
    }

    private static Throwable failure(CompletableFuture<Connection> connecting) throws Exception {
        try {
            throw new AssertionError("connected: " + get(connecting));
        } catch (ExecutionException e) {
            return e.getCause();
        }
    }

    /// Both sides of a connection.
    private record Both(Connection active, Connection passive) {}

    private Both connect() throws Exception {
        CompletableFuture<Connection> connecting = connecting(DEFAULTS);
        Connection passive = request().accept(server.pair, DEFAULTS, LONG);
        return new Both(get(connecting), passive);
    }

    @Test
    void deviceHasAConnectionManager() {
        assertThat(client.context.supports(Capability.CONNECTION_MANAGER)).isTrue();
        assertThat(client.manager.privateDataLimit()).isEqualTo(251);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 251})
    void privateDataGoesBothWays(int length) throws Exception {
        byte[] there = new byte[length];
        byte[] back = new byte[length];
        Arrays.fill(there, (byte) 3);
        Arrays.fill(back, (byte) 4);
        CompletableFuture<Connection> connecting = connecting(DEFAULTS.withPrivateData(there));
        ConnectionRequest request = request();
        assertThat(request.privateData()).isEqualTo(there);
        Connection passive = request.accept(server.pair, DEFAULTS.withPrivateData(back), LONG);
        Connection active = get(connecting);
        assertThat(active.privateData()).isEqualTo(back);
        assertThat(passive.privateData()).isEqualTo(there);
        assertThat(active.remoteAddress()).isEqualTo(listener.localAddress());
        assertThat(passive.localAddress()).isEqualTo(listener.localAddress());
        assertThat(client.pair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(server.pair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    @Test
    void depthsAreLoweredToWhatThePeerCanDo() throws Exception {
        CompletableFuture<Connection> connecting = connecting(DEFAULTS.withDepths(2, 9));
        ConnectionRequest request = request();
        assertThat(request.initiatorDepth()).isEqualTo(2);
        assertThat(request.responderResources()).isEqualTo(9);
        Connection passive = request.accept(server.pair, DEFAULTS.withDepths(4, 16), LONG);
        Connection active = get(connecting);
        assertThat(active.initiatorDepth()).isEqualTo(4);
        assertThat(passive.initiatorDepth()).isEqualTo(2);
        assertThat(passive.responderResources()).isEqualTo(4);
        assertThat(active.responderResources()).isEqualTo(2);
    }

    @Test
    void everyOperationWorksBothWays() throws Exception {
        assertOperations(connect());
    }

    /// One end sends short frames, the other long ones.
    @Test
    void theFramesOfTheTwoEndsMayDiffer() throws Exception {
        client.close();
        client = new AddressEnd(settings() + "&segment=536&checksum=true");
        assertOperations(connect());
        assertGoesOver(client, server);
        assertGoesOver(server, client);
    }

    private static void assertGoesOver(AddressEnd from, AddressEnd to) {
        int bytes = 100_001;
        from.fill(bytes, 5);
        to.receive(21, bytes);
        from.post(from.batch().send(22).with(from.region, 0, bytes).signaled());
        assertThat(to.succeeded(21).bytes()).isEqualTo(bytes);
        from.succeeded(22);
        assertThat(to.region
                        .segment()
                        .asSlice(AddressEnd.HALF, bytes)
                        .mismatch(from.region.segment().asSlice(0, bytes)))
                .isEqualTo(-1);
    }

    private void assertOperations(Both both) {
        assertThat(both.active().isConnected()).isTrue();
        assertThat(client.context.counters(1)).containsEntry("tcp_links", sharedMemory ? 0L : 1L);
        server.receive(11, 100);
        client.receive(12, 100);
        exchange(client, server, 11);
        exchange(server, client, 12);
        oneSided(client, server);
        oneSided(server, client);
    }

    private static void exchange(AddressEnd from, AddressEnd to, long receive) {
        from.put("hello " + receive);
        from.post(from.batch().send(1).with(from.region, 0, 20).signaled());
        assertThat(to.succeeded(receive).bytes()).isEqualTo(20);
        assertThat(to.received()).isEqualTo("hello " + receive);
        from.succeeded(1);
    }

    private static void oneSided(AddressEnd from, AddressEnd to) {
        int key = to.region.remoteKey();
        long there = to.region.address() + AddressEnd.HALF;
        from.put("written");
        from.post(
                from.batch().write(2, there, key).with(from.region, 0, 100_000).signaled());
        from.succeeded(2);
        assertThat(to.received()).isEqualTo("written");
        from.put("overwritten");
        from.post(from.batch().read(3, there, key).with(from.region, 0, 100_000).signaled());
        from.succeeded(3);
        assertThat(from.region.segment().getString(0)).isEqualTo("written");
        to.receive(13, 0);
        from.post(from.batch()
                .writeWithImmediate(4, there, key, 77)
                .with(from.region, 0, 8)
                .signaled());
        from.succeeded(4);
        AddressEnd.Done arrived = to.succeeded(13);
        assertThat(arrived.immediate()).isTrue();
        assertThat(arrived.value()).isEqualTo(77);
        from.post(from.batch()
                .fetchAndAdd(5, there, key, 1)
                .with(from.region, 0, 8)
                .signaled());
        from.succeeded(5);
    }

    @Test
    void serverSpeaksFirst() throws Exception {
        CompletableFuture<Connection> connecting = AddressEnd.async(() -> {
            try (Route route = client.manager.resolve(listener.localAddress(), LONG)) {
                route.prepare(client.pair);
                client.receive(1, 100);
                return route.connect(client.pair, DEFAULTS, LONG);
            }
        });
        request().accept(server.pair, DEFAULTS, LONG);
        server.put("welcome");
        server.post(server.batch().send(2).with(server.region, 0, 8).signaled());
        get(connecting);
        client.succeeded(1);
        assertThat(client.received()).isEqualTo("welcome");
        server.succeeded(2);
    }

    @Test
    void receiverMayBeLate() throws Exception {
        connect();
        client.put("early");
        client.post(client.batch().send(1).with(client.region, 0, 6).signaled());
        assertThat(server.isQuiet()).isTrue();
        server.receive(2, 100);
        server.succeeded(2);
        client.succeeded(1);
    }

    @Test
    void checksumIsUsedIfOneSideWantsIt() throws Exception {
        client.close();
        client = new AddressEnd(settings() + "&checksum=true");
        assertOperations(connect());
    }

    @Test
    void disconnectEndsBothSides() throws Exception {
        Both both = connect();
        server.receive(1, 10);
        client.receive(2, 10);
        client.put("last words");
        server.receive(3, 100);
        client.post(client.batch().send(4).with(client.region, 0, 9));
        both.active().disconnect();
        assertThat(both.active().awaitDisconnect(Duration.ZERO)).isTrue();
        assertThat(both.passive().awaitDisconnect(LONG)).isTrue();
        assertThat(both.passive().isConnected()).isFalse();
        assertThat(both.active().disconnectReason()).isEqualTo("this side disconnected");
        assertThat(both.passive().disconnectReason()).isEqualTo("the peer has ended the connection");
        assertThat(server.pair.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(client.pair.state()).isEqualTo(QueuePairState.ERROR);
        // Requests that were posted before are sent, all others are flushed.
        assertThat(server.succeeded(1).bytes()).isEqualTo(9);
        assertThat(server.next()).isEqualTo(flushed(3));
        assertThat(client.next()).isEqualTo(flushed(2));
        both.passive().disconnect();
    }

    private static AddressEnd.Done flushed(long workId) {
        return new AddressEnd.Done(workId, WorkStatus.FLUSHED, false, 0, false, 0);
    }

    @Test
    void closingTheQueuePairEndsTheConnection() throws Exception {
        Both both = connect();
        client.pair.close();
        assertThat(both.active().awaitDisconnect(LONG)).isTrue();
        assertThat(both.passive().awaitDisconnect(LONG)).isTrue();
        assertThat(server.pair.state()).isEqualTo(QueuePairState.ERROR);
        both.active().close();
        both.passive().close();
    }

    @Test
    void closingTheManagerEndsEverything() throws Exception {
        Both both = connect();
        CompletableFuture<Boolean> waiter =
                AddressEnd.async(() -> both.passive().awaitDisconnect(LONG));
        client.manager.close();
        assertThat(waiter.get(20, TimeUnit.SECONDS)).isTrue();
        assertThat(client.pair.state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    void rejectionCarriesPrivateData() throws Exception {
        CompletableFuture<Connection> connecting = connecting(DEFAULTS);
        request().reject(new byte[] {5, 6, 7});
        assertThat(failure(connecting))
                .isInstanceOfSatisfying(
                        ConnectionRejectedException.class,
                        e -> assertThat(e.privateData()).containsExactly(5, 6, 7));
        assertThat(client.pair.state()).isEqualTo(QueuePairState.INIT);
        // It may be used again.
        assertThat(connect().active().isConnected()).isTrue();
    }

    @Test
    void closingAListenerRejectsWaitingRequests() throws Exception {
        CompletableFuture<Connection> connecting = connecting(DEFAULTS);
        ConnectionRequest request = request();
        listener.close();
        request.close();
        assertThat(failure(connecting)).isInstanceOf(ConnectionRejectedException.class);
    }

    @Test
    void nobodyListens() {
        InetSocketAddress address = listener.localAddress();
        listener.close();
        assertThatThrownBy(() -> client.manager.connect(address, client.pair, DEFAULTS, LONG))
                .isInstanceOfSatisfying(
                        ConnectionRejectedException.class,
                        e -> assertThat(e.privateData()).isEmpty())
                .hasMessageContaining("no program listens");
    }

    @Test
    void somethingElseListens() throws Exception {
        try (ServerSocket web = Wire.listen()) {
            CompletableFuture<Connection> connecting =
                    AddressEnd.async(() -> client.manager.connect(Wire.addressOf(web), client.pair, DEFAULTS, LONG));
            try (Wire peer = new Wire(web.accept())) {
                peer.send("485454502f312e3120343030");
                assertThat(failure(connecting))
                        .isInstanceOf(ConnectFailedException.class)
                        .hasMessageContaining("does not speak MPA");
            }
        }
    }

    @Test
    void silentPeer() throws Exception {
        try (ServerSocket silent = Wire.listen()) {
            assertThatThrownBy(() -> client.manager.connect(
                            Wire.addressOf(silent), client.pair, DEFAULTS, Duration.ofMillis(200)))
                    .isInstanceOf(DeadlineException.class)
                    .hasMessageContaining("200 ms");
            assertThat(client.pair.state()).isEqualTo(QueuePairState.ERROR);
        }
    }

    @Test
    void closingTheManagerEndsAConnectInProgress() throws Exception {
        try (ServerSocket silent = Wire.listen()) {
            CompletableFuture<Connection> connecting =
                    AddressEnd.async(() -> client.manager.connect(Wire.addressOf(silent), client.pair, DEFAULTS, LONG));
            try (Wire peer = new Wire(silent.accept())) {
                peer.readFrame();
                client.manager.close();
                assertThat(failure(connecting)).isInstanceOf(IllegalStateException.class);
            }
        }
    }

    @Test
    void closingTheListenerWakesWaiters() throws Exception {
        CompletableFuture<Object> waiting = AddressEnd.async(() -> String.valueOf(listener.awaitRequest(LONG)));
        server.manager.close();
        assertThatThrownBy(() -> waiting.get(20, TimeUnit.SECONDS)).hasCauseInstanceOf(IllegalStateException.class);
        assertThat(listener.isOpen()).isFalse();
    }

    @Test
    void addressesThatCannotBeListenedAt() {
        assertErrno(Errno.EADDRINUSE, listener.localAddress());
        assertErrno(Errno.EADDRNOTAVAIL, new InetSocketAddress("192.0.2.1", 0));
    }

    private void assertErrno(Errno errno, InetSocketAddress address) {
        assertThatThrownBy(() -> server.manager.listen(address, 1))
                .isInstanceOfSatisfying(
                        VerbException.class, e -> assertThat(e.errno()).isEqualTo(errno));
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1", "localhost", "0.0.0.0", "::"})
    void addressesOfAllKinds(String host) throws Exception {
        listener.close();
        listener = server.manager.listen(new InetSocketAddress(host, 0), 1);
        String name = host.equals("0.0.0.0") ? "127.0.0.1" : host.equals("::") ? "::1" : host;
        InetSocketAddress destination =
                new InetSocketAddress(name, listener.localAddress().getPort());
        CompletableFuture<Connection> connecting =
                AddressEnd.async(() -> client.manager.connect(destination, client.pair, DEFAULTS, LONG));
        Connection passive = request().accept(server.pair, DEFAULTS, LONG);
        assertThat(get(connecting).remoteAddress()).isEqualTo(destination);
        assertThat(passive.remoteAddress().getAddress().isLoopbackAddress()).isTrue();
    }

    @Test
    void connectionManagerOfAContextIsTakenOncePerOpen() {
        try (ConnectionManager second = ConnectionManager.open(client.context)) {
            assertThat(second.context()).isEqualTo(client.context);
        }
    }

    @Test
    void aHundredConnectionsOneAfterTheOther() throws Exception {
        Random random = new Random(7);
        for (int i = 0; i < 100; i++) {
            Both both = connect();
            server.receive(i, 100);
            client.put("round " + i);
            client.post(client.batch().send(1000).with(client.region, 0, 20).signaled());
            server.succeeded(i);
            client.succeeded(1000);
            assertThat(server.received()).isEqualTo("round " + i);
            if (random.nextBoolean()) {
                both.active().close();
                assertThat(both.passive().awaitDisconnect(LONG)).isTrue();
            } else {
                both.passive().close();
                assertThat(both.active().awaitDisconnect(LONG)).isTrue();
            }
            client.renew();
            server.renew();
        }
    }
}
