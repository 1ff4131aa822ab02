package io.rdmacomm.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.UnsupportedVerbException;
import io.rdmacomm.verbs.cm.AddressUnresolvedException;
import io.rdmacomm.verbs.cm.ConnectFailedException;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRejectedException;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.ConnectionTimeoutException;
import io.rdmacomm.verbs.cm.DeviceRemovedException;
import io.rdmacomm.verbs.cm.Listener;
import io.rdmacomm.verbs.cm.PeerUnreachableException;
import io.rdmacomm.verbs.cm.Route;
import io.rdmacomm.verbs.cm.RouteUnresolvedException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Connections over librdmacm: what arrives in C, what each event becomes, and that nothing waits for ever.
class ConnectionsTest {
    private static final Duration LONG = Duration.ofMinutes(1);
    private static final Duration SHORT = Duration.ofMillis(100);
    private static final ConnectionParameters DEFAULTS = ConnectionParameters.defaults();
    private static final InetSocketAddress PEER = new InetSocketAddress(address(10, 0, 0, 9), 7174);
    private static final InetSocketAddress HERE = new InetSocketAddress(address(10, 0, 0, 7), 7174);

    private static final int ROUTE_ERROR = 3;
    private static final int CONNECT_ERROR = 6;
    private static final int UNREACHABLE = 7;
    private static final int REJECTED = 8;
    private static final int DISCONNECTED = 10;
    private static final int DEVICE_REMOVAL = 11;
    private static final int ADDRESS_CHANGE = 14;
    private static final int TIMEWAIT_EXIT = 15;
    private static final int IWARP = 1;
    private static final int SIW = 0x626d74;

    private FakeVerbs fake;
    private Context context;
    private ProtectionDomain domain;
    private CompletionQueue queue;
    private ConnectionManager manager;

    @BeforeEach
    void open() {
        fake = FakeVerbs.fresh();
        openDevice();
    }

    private void openDevice() {
        context = fake.open();
        domain = context.allocateProtectionDomain();
        queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(16));
        manager = ConnectionManager.open(context);
        fake.log();
    }

    private void useIwarp() {
        context.close();
        fake.kind(IWARP, SIW);
        openDevice();
    }

    @AfterEach
    void nothingIsLeft() {
        context.close();
        assertThat(fake.connectionLeftovers())
                .as("identifiers, channels, unacknowledged events")
                .containsExactly(0, 0, 0);
    }

    private static InetAddress address(int... bytes) {
        byte[] raw = new byte[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
            raw[i] = (byte) bytes[i];
        }
        try {
            return InetAddress.getByAddress(raw);
        } catch (java.net.UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    private QueuePair pair() {
        QueuePair pair = domain.createQueuePair(QueuePairOptions.reliable(queue));
        fake.log();
        return pair;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static <T> FutureTask<T> start(boolean virtual, Callable<T> call) {
        FutureTask<T> task = new FutureTask<>(call);
        var threads = virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
        threads.start(task);
        return task;
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + LONG.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            Thread.sleep(1);
        }
    }

    /// Waits until C was called with something, so that who calls it is in it or past it.
    private void awaitLog(String line) throws InterruptedException {
        StringBuilder seen = new StringBuilder();
        await(() -> {
            fake.log().forEach(seen::append);
            return seen.indexOf(line) >= 0;
        });
    }

    @Test
    void activeSideOnRoce() throws InterruptedException {
        QueuePair pair = pair();
        Connection connection;
        try (Route route = manager.resolve(PEER, LONG)) {
            assertThat(route.localAddress()).isEqualTo(new InetSocketAddress(address(10, 0, 0, 7), 50000));
            assertThat(route.remoteAddress()).isEqualTo(PEER);
            ConnectionParameters parameters =
                    DEFAULTS.withPrivateData(bytes("hello")).withDepths(200, 2).withRetries(4, 3);
            connection = route.connect(pair, parameters, LONG);
        }
        List<String> log = fake.log();
        assertThat(log.get(0)).isEqualTo("create_id id0 context=0 space=106");
        assertThat(log.get(1)).isEqualTo("resolve_addr id0 source=0 10.0.0.9:7174 60000 ms");
        assertThat(log.get(2)).isEqualTo("resolve_route id0 60000 ms");
        assertThat(log.get(3)).startsWith("modify_qp qp3 mask=39 state=1").contains("access=15 pkey=257", "port=1");
        // 200 is more than the 16 of the device.
        assertThat(log.get(4))
                .isEqualTo("connect id0 data=hello resources=16 depth=2 flow=0 retry=4 rnr=3 srq=0 qp="
                        + Integer.toHexString(pair.number()));
        // The answer said 5 and 3; the bit that nobody knows is gone, the timer is ours.
        assertThat(log.get(5))
                .startsWith("modify_qp qp3 mask=129181 state=2")
                .contains("mtu=4", "rq_psn=234567", "dest=123456", "dest_rd=5", "rnr_timer=12");
        assertThat(log.get(6))
                .isEqualTo("av gid=fe..7f flow=abcde sgid=2 hop=200 class=201 lid=fedc sl=5 global=1 port=1");
        assertThat(log.get(7))
                .startsWith("modify_qp qp3 mask=12e01 state=3")
                .contains("sq_psn=345678", "rd=2 ", "timeout=19 retry=6 rnr=5");
        assertThat(log.subList(8, log.size())).containsExactly("establish id0");

        assertThat(connection.isConnected()).isTrue();
        assertThat(connection.privateData()).isEqualTo(bytes("welcome"));
        assertThat(connection.responderResources()).isEqualTo(5);
        assertThat(connection.initiatorDepth()).isEqualTo(2);
        assertThat(connection.remoteAddress()).isEqualTo(PEER);
        QueuePairAttributes attributes = pair.query();
        assertThat(attributes.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(attributes.pathMtu()).isEqualTo(PathMtu.MTU_2048);
        assertThat(attributes.addressVector())
                .isEqualTo(
                        new AddressVector(new Gid(0xfe00_0000_0000_0000L, 0x7f), 0xfedc, 2, 1, 5, 201, 200, 0xabcde));

        connection.disconnect();
        assertThat(pair.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(connection.disconnectReason()).isEqualTo("this side disconnected");
        connection.close();
        log = fake.log();
        assertThat(log.getFirst()).startsWith("modify_qp qp3 mask=1 state=6");
        assertThat(log.subList(1, log.size())).containsExactly("disconnect id0", "destroy_id id0");
    }

    @Test
    void passiveSideOnRoce() throws InterruptedException {
        Listener listener = manager.listen(HERE, 3);
        assertThat(listener.localAddress()).isEqualTo(HERE);
        assertThat(fake.log())
                .containsExactly("create_id id0 context=0 space=106", "bind_addr id0 10.0.0.7:7174", "listen id0 3");
        assertThat(listener.awaitRequest(Duration.ZERO)).isNull();
        fake.request("id0", "hello", false);
        QueuePair pair = pair();
        Connection connection;
        try (ConnectionRequest request = listener.awaitRequest(LONG)) {
            assertThat(request.privateData()).isEqualTo(bytes("hello"));
            assertThat(request.remoteAddress()).isEqualTo(new InetSocketAddress(address(10, 0, 0, 9), 60000));
            assertThat(request.localAddress()).isEqualTo(HERE);
            assertThat(request.responderResources()).isEqualTo(5);
            assertThat(request.initiatorDepth()).isEqualTo(3);
            request.prepare(pair);
            connection = request.accept(pair, DEFAULTS.withPrivateData(bytes("welcome")), LONG);
        }
        List<String> log = fake.log();
        assertThat(log).hasSize(5);
        assertThat(log.get(1)).contains("state=2", "dest_rd=5");
        assertThat(log.get(3)).contains("state=3", "rd=3 ");
        assertThat(log.get(4)).startsWith("accept id1 data=welcome resources=5 depth=3 ");
        assertThat(connection.privateData()).isEqualTo(bytes("hello"));
        assertThat(pair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        connection.close();
        assertThat(fake.log()).last().isEqualTo("destroy_id id1");
    }

    @Test
    void iwarpIsBroughtUpByTheKernel() throws InterruptedException {
        useIwarp();
        assertThat(manager.privateDataLimit()).isEqualTo(251);
        QueuePair active = pair();
        Connection connection = manager.connect(PEER, active, DEFAULTS, LONG);
        List<String> log = fake.log();
        assertThat(log)
                .filteredOn(line -> line.startsWith("modify_qp"))
                .singleElement()
                .asString()
                .contains("mask=39 state=1");
        assertThat(log).noneMatch(line -> line.startsWith("establish"));
        assertThat(active.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        // Which is which, drivers do not agree on.
        assertThat(connection.responderResources()).isEqualTo(3);
        assertThat(connection.initiatorDepth()).isEqualTo(3);
        connection.close();
        log = fake.log();
        assertThat(log.get(0)).isEqualTo("disconnect id" + log.get(0).replaceAll("\\D", ""));
        assertThat(log.get(1)).startsWith("modify_qp").contains("state=6");

        Listener listener = manager.listen(HERE, 0);
        String name = fake.log().getFirst().replaceAll("create_id (id\\d+) .*", "$1");
        fake.request(name, "", false);
        QueuePair passive = pair();
        try (ConnectionRequest request = listener.awaitRequest(LONG)) {
            request.accept(passive, DEFAULTS, LONG);
        }
        assertThat(passive.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(fake.log()).hasSize(2).last().asString().startsWith("accept");
    }

    @Test
    void addressesOfBothFamilies() {
        InetAddress ipv6 = address(0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);
        Listener listener = manager.listen(new InetSocketAddress(ipv6, 0), 1);
        assertThat(fake.log()).contains("bind_addr id0 [fe80::1%0]:0");
        assertThat(listener.localAddress().getPort()).isEqualTo(40000);
        assertThat(listener.localAddress().getAddress()).isEqualTo(ipv6);
    }

    @ParameterizedTest
    @CsvSource({"rdma_resolve_addr,1,-110,ETIMEDOUT", "rdma_resolve_addr,1,-113,EHOSTUNREACH"})
    void addressError(String function, int type, int status, Errno errno) {
        fake.answer(function, type, status, "");
        assertThatThrownBy(() -> manager.resolve(PEER, LONG))
                .isInstanceOfSatisfying(
                        AddressUnresolvedException.class,
                        failure -> assertThat(failure.errno()).isEqualTo(errno))
                .hasMessageContainingAll("10.0.0.9:7174", "rdma_resolve_addr");
    }

    @Test
    void resolvingFails() {
        fake.answer("rdma_resolve_route", ROUTE_ERROR, -101, "");
        assertThatThrownBy(() -> manager.resolve(PEER, LONG)).isInstanceOf(RouteUnresolvedException.class);
        fake.answer("rdma_resolve_addr", DEVICE_REMOVAL, 0, "");
        assertThatThrownBy(() -> manager.resolve(PEER, LONG)).isInstanceOf(DeviceRemovedException.class);
        fake.answer("rdma_resolve_addr", -1, 0, "");
        assertThatThrownBy(() -> manager.resolve(PEER, SHORT))
                .isInstanceOf(ConnectionTimeoutException.class)
                .hasMessageContaining("100 ms");
        fake.fail("rdma_resolve_addr", 19);
        assertThatThrownBy(() -> manager.resolve(PEER, LONG))
                .isInstanceOf(AddressUnresolvedException.class)
                .hasMessageContaining("ENODEV");
        fake.fail("rdma_create_id", 12);
        assertThatThrownBy(() -> manager.resolve(PEER, LONG)).hasMessageContainingAll("ENOMEM", "rdma_create_id");
        fake.elsewhere(true);
        assertThatThrownBy(() -> manager.resolve(PEER, LONG))
                .isInstanceOf(AddressUnresolvedException.class)
                .hasMessageContainingAll("through other0, not through fake0");
    }

    @Test
    void listeningFails() {
        fake.fail("rdma_bind_addr", 98);
        assertThatThrownBy(() -> manager.listen(HERE, 1)).hasMessageContainingAll("EADDRINUSE", "10.0.0.7:7174");
        fake.fail("rdma_bind_addr", 19);
        assertThatThrownBy(() -> manager.listen(HERE, 1)).hasMessageContaining("EADDRNOTAVAIL");
        fake.fail("rdma_listen", 98);
        assertThatThrownBy(() -> manager.listen(HERE, 1)).hasMessageContaining("EADDRINUSE");
        fake.elsewhere(true);
        assertThatThrownBy(() -> manager.listen(HERE, 1)).hasMessageContaining("an address of other0, not of fake0");
    }

    private RdmaException connectAnswered(QueuePair pair, int type, int status, String data) {
        fake.answer("rdma_connect", type, status, data);
        try {
            manager.connect(PEER, pair, DEFAULTS, type < 0 ? SHORT : LONG);
            throw new AssertionError("connected");
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        } catch (RdmaException e) {
            return e;
        }
    }

    @ParameterizedTest
    @CsvSource({
        "8,nobody listens",
        "28,its program said no",
        "-111,nobody listens",
        "-104,program said no",
        "3,reason 3"
    })
    void refusal(int status, String text) throws InterruptedException {
        QueuePair pair = pair();
        assertThat(connectAnswered(pair, REJECTED, status, "because"))
                .isInstanceOfSatisfying(
                        ConnectionRejectedException.class,
                        failure -> assertThat(failure.privateData()).isEqualTo(bytes("because")))
                .hasMessageContainingAll(text, "10.0.0.9:7174");
        assertThat(pair.state()).isEqualTo(QueuePairState.INIT);
        assertThat(manager.connect(PEER, pair, DEFAULTS, LONG).isConnected()).isTrue();
    }

    @Test
    void connectingFails() {
        QueuePair pair = pair();
        assertThat(connectAnswered(pair, UNREACHABLE, -110, ""))
                .isInstanceOf(PeerUnreachableException.class)
                .hasMessageContaining("ETIMEDOUT");
        assertThat(connectAnswered(pair, CONNECT_ERROR, -22, "")).isInstanceOf(ConnectFailedException.class);
        assertThat(connectAnswered(pair, DISCONNECTED, 0, "")).isInstanceOf(ConnectFailedException.class);
        assertThat(connectAnswered(pair, DEVICE_REMOVAL, 0, "")).isInstanceOf(DeviceRemovedException.class);
        assertThat(connectAnswered(pair, 99, 0, "")).isInstanceOf(ConnectFailedException.class);
        fake.fail("rdma_connect", 22);
        assertThatThrownBy(() -> manager.connect(PEER, pair, DEFAULTS, LONG)).hasMessageContaining("EINVAL");
        assertThat(pair.state()).isEqualTo(QueuePairState.INIT);

        fake.fail("rdma_establish", 22);
        assertThatThrownBy(() -> manager.connect(PEER, pair, DEFAULTS, LONG)).hasMessageContaining("rdma_establish");
        assertThat(pair.state()).isEqualTo(QueuePairState.ERROR);
        QueuePair other = pair();
        assertThat(connectAnswered(other, -1, 0, "")).isInstanceOf(ConnectionTimeoutException.class);
        assertThat(other.state()).isEqualTo(QueuePairState.ERROR);
    }

    @ParameterizedTest
    @CsvSource({
        "111,ConnectionRejectedException",
        "110,PeerUnreachableException",
        "113,PeerUnreachableException",
        "104,ConnectFailedException",
        "12,RdmaException"
    })
    void siwConnectsInTheCall(int errno, String kind) {
        useIwarp();
        QueuePair pair = pair();
        fake.fail("rdma_connect", errno);
        assertThatThrownBy(() -> manager.connect(PEER, pair, DEFAULTS, LONG))
                .satisfies(failure ->
                        assertThat(failure.getClass().getSimpleName()).isEqualTo(kind));
    }

    @Test
    void aCallThatBlocksInTheKernelBlocksNobody() throws Exception {
        useIwarp();
        fake.blockConnecting(true);
        try {
            QueuePair pair = pair();
            assertThatThrownBy(() -> manager.connect(PEER, pair, DEFAULTS, SHORT))
                    .isInstanceOf(ConnectionTimeoutException.class);
            FutureTask<Connection> other = start(true, () -> manager.connect(PEER, pair(), DEFAULTS, LONG));
            awaitLog("connect id1");
            FutureTask<Void> closing = start(false, () -> {
                context.close();
                return null;
            });
            assertThatThrownBy(other::get).hasCauseInstanceOf(IllegalStateException.class);
            closing.get();
            assertThat(fake.connectionLeftovers()).as("still in C").containsExactly(2, 1, 0);
        } finally {
            fake.blockConnecting(false);
        }
        await(() -> fake.connectionLeftovers().equals(List.of(0, 0, 0)));
    }

    @Test
    void destroyingThatWaitsForThePeerKeepsNobodyWaiting() throws Exception {
        useIwarp();
        fake.blockDestroying(true);
        try {
            assertThat(connectAnswered(pair(), -1, 0, "")).isInstanceOf(ConnectionTimeoutException.class);
            assertThat(fake.connectionLeftovers()).as("still in C").containsExactly(1, 1, 0);
        } finally {
            fake.blockDestroying(false);
        }
        await(() -> fake.connectionLeftovers().equals(List.of(0, 1, 0)));
    }

    private ConnectionRequest requested(Listener listener) throws InterruptedException {
        fake.request("id0", "", false);
        ConnectionRequest request = listener.awaitRequest(LONG);
        assertThat(request).isNotNull();
        return request;
    }

    @Test
    void acceptingFails() throws InterruptedException {
        Listener listener = manager.listen(HERE, 0);
        for (int type : new int[] {REJECTED, UNREACHABLE, CONNECT_ERROR, DISCONNECTED}) {
            QueuePair pair = pair();
            fake.answer("rdma_accept", type, -110, "");
            try (ConnectionRequest request = requested(listener)) {
                assertThatThrownBy(() -> request.accept(pair, DEFAULTS, LONG))
                        .isInstanceOf(ConnectFailedException.class)
                        .hasMessageContainingAll("10.0.0.9:60000", "went away");
            }
            assertThat(pair.state()).isEqualTo(QueuePairState.ERROR);
        }
        fake.answer("rdma_accept", -1, 0, "");
        try (ConnectionRequest request = requested(listener)) {
            assertThatThrownBy(() -> request.accept(pair(), DEFAULTS, SHORT))
                    .isInstanceOf(ConnectionTimeoutException.class);
        }
        fake.fail("rdma_accept", 22);
        try (ConnectionRequest request = requested(listener)) {
            assertThatThrownBy(() -> request.accept(pair(), DEFAULTS, LONG)).isInstanceOf(ConnectFailedException.class);
        }
        fake.fail("rdma_init_qp_attr", 22);
        try (ConnectionRequest request = requested(listener)) {
            assertThatThrownBy(() -> request.accept(pair(), DEFAULTS, LONG)).isInstanceOf(ConnectFailedException.class);
        }
        // A request that the peer withdrew before anybody looked.
        String name = fake.request("id0", "", false);
        fake.report(name, UNREACHABLE, -110);
        fake.answer("rdma_accept", -1, 0, "");
        try (ConnectionRequest request = listener.awaitRequest(LONG)) {
            assertThatThrownBy(() -> request.accept(pair(), DEFAULTS, LONG)).isInstanceOf(ConnectFailedException.class);
        }
    }

    @Test
    void rejecting() throws InterruptedException {
        Listener listener = manager.listen(HERE, 0);
        ConnectionRequest request = requested(listener);
        fake.log();
        request.reject(bytes("no"));
        request.close();
        assertThat(fake.log()).containsExactly("reject id1 no", "destroy_id id1");
        requested(listener).close();
        assertThat(fake.log()).as("closed unanswered").containsExactly("reject id2 ", "destroy_id id2");
    }

    @Test
    void aRequestWhosePeerHasGoneIsClosedAllTheSame() throws InterruptedException {
        Listener listener = manager.listen(HERE, 0);
        for (int errno : new int[] {22, 104}) {
            fake.fail("rdma_reject", errno);
            requested(listener).close();
            fake.fail("rdma_reject", errno);
            try (ConnectionRequest request = requested(listener)) {
                request.reject(bytes("no"));
            }
        }
        listener.close();
        assertThat(fake.connectionLeftovers()).containsExactly(0, 1, 0);
    }

    @Test
    void whatNobodyTakesIsRefused() throws InterruptedException {
        Listener listener = manager.listen(HERE, 2);
        fake.log();
        String elsewhere = fake.request("id0", "", true);
        awaitLog("destroy_id " + elsewhere);
        fake.request("id0", "first", false);
        fake.request("id0", "second", false);
        String third = fake.request("id0", "third", false);
        awaitLog("destroy_id " + third);
        try (ConnectionRequest request = listener.awaitRequest(LONG)) {
            assertThat(request.privateData()).isEqualTo(bytes("first"));
            fake.log();
            listener.close();
        }
        assertThat(fake.log())
                .containsExactly("destroy_id id0", "reject id3 ", "destroy_id id3", "reject id2 ", "destroy_id id2");
    }

    @Test
    void thePeerDisconnects() throws InterruptedException {
        QueuePair pair = pair();
        Connection connection = manager.connect(PEER, pair, DEFAULTS, LONG);
        assertThat(connection.awaitDisconnect(Duration.ZERO)).isFalse();
        fake.report("id0", ADDRESS_CHANGE, 0);
        assertThat(connection.awaitDisconnect(SHORT)).isFalse();
        fake.log();
        fake.report("id0", DISCONNECTED, 0);
        assertThat(connection.awaitDisconnect(LONG)).isTrue();
        assertThat(connection.disconnectReason()).contains("the peer disconnected");
        assertThat(pair.state()).as("before anybody is told").isEqualTo(QueuePairState.ERROR);
        connection.disconnect();
        fake.report("id0", TIMEWAIT_EXIT, 0);
        fake.report("id0", DISCONNECTED, 0);
        connection.close();
        assertThat(fake.log())
                .filteredOn(line -> !line.startsWith("modify_qp"))
                .as("the peer is answered once")
                .containsExactly("disconnect id0", "destroy_id id0");
    }

    @Test
    void theDeviceGoesAway() throws InterruptedException {
        QueuePair pair = pair();
        Connection connection = manager.connect(PEER, pair, DEFAULTS, LONG);
        fake.report("id0", DEVICE_REMOVAL, 0);
        assertThat(connection.awaitDisconnect(LONG)).isTrue();
        assertThat(connection.disconnectReason()).contains("device");
        Listener listener = manager.listen(HERE, 1);
        fake.report("id1", DEVICE_REMOVAL, 0);
        assertThatThrownBy(() -> listener.awaitRequest(LONG)).isInstanceOf(DeviceRemovedException.class);
    }

    @Test
    void theQueuePairMayBeClosedBeforeItsConnection() throws InterruptedException {
        QueuePair pair = pair();
        Connection connection = manager.connect(PEER, pair, DEFAULTS, LONG);
        pair.close();
        fake.report("id0", DISCONNECTED, 0);
        assertThat(connection.awaitDisconnect(LONG)).isTrue();
        connection.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void closingWakesWhoWaits(boolean virtual) throws Exception {
        QueuePair connected = pair();
        Connection connection = manager.connect(PEER, connected, DEFAULTS, LONG);
        Listener listener = manager.listen(HERE, 1);
        FutureTask<Boolean> ended = start(virtual, () -> connection.awaitDisconnect(LONG));
        FutureTask<ConnectionRequest> arrival = start(virtual, () -> listener.awaitRequest(LONG));
        fake.answer("rdma_connect", -1, 0, "");
        QueuePair unanswered = pair();
        FutureTask<Connection> connecting = start(virtual, () -> manager.connect(PEER, unanswered, DEFAULTS, LONG));
        awaitLog("connect id");
        fake.answer("rdma_resolve_addr", -1, 0, "");
        FutureTask<Route> resolving = start(virtual, () -> manager.resolve(PEER, LONG));
        awaitLog("resolve_addr id");
        manager.close();
        assertThat(ended.get()).isTrue();
        for (FutureTask<?> waiter : List.of(arrival, connecting, resolving)) {
            assertThatThrownBy(waiter::get).hasCauseInstanceOf(IllegalStateException.class);
        }
        assertThat(connected.state()).isEqualTo(QueuePairState.ERROR);
        assertThatThrownBy(() -> manager.listen(HERE, 1)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aRequestThatIsTakenWhileTheManagerClosesIsRefused() throws InterruptedException {
        Listener listener = manager.listen(HERE, 1);
        String name = fake.request("id0", "", false);
        // The backlog is full once the next one is refused.
        awaitLog("destroy_id " + fake.request("id0", "", false));
        ((IbvConnectionManager) manager).channel().wake();
        assertThatThrownBy(() -> listener.awaitRequest(LONG)).isInstanceOf(IllegalStateException.class);
        assertThat(fake.log()).contains("reject " + name + " ", "destroy_id " + name);
    }

    @Test
    void interruptingWakesWhoWaits() throws InterruptedException {
        fake.answer("rdma_resolve_addr", -1, 0, "");
        FutureTask<Route> resolving = start(true, () -> {
            Thread.currentThread().interrupt();
            return manager.resolve(PEER, LONG);
        });
        assertThatThrownBy(resolving::get).hasCauseInstanceOf(InterruptedException.class);
    }

    @Test
    void eventsCanNoLongerBeRead() throws InterruptedException {
        Route route = manager.resolve(PEER, LONG);
        QueuePair pair = pair();
        fake.fail("rdma_get_cm_event", 5);
        assertThatThrownBy(() -> route.connect(pair, DEFAULTS, LONG))
                .hasMessageContainingAll("EIO", "rdma_get_cm_event");
    }

    @Test
    void thousandIdentifiersComeAndGo() throws InterruptedException {
        fake.logOff();
        for (int i = 0; i < 1000; i++) {
            manager.resolve(PEER, LONG).close();
        }
        assertThat(fake.connectionLeftovers()).containsExactly(0, 1, 0);
    }

    @Test
    void withoutTheLibraryThereAreNoConnections() {
        try (Context other = fake.withoutConnections().devices().getFirst().open()) {
            assertThat(other.supports(Capability.CONNECTION_MANAGER)).isFalse();
            assertThatThrownBy(() -> ConnectionManager.open(other))
                    .isInstanceOf(UnsupportedVerbException.class)
                    .hasMessageContainingAll("fake0", "libnobody-has-this.so.7 is not installed", "librdmacm1");
        }
        assertThat(context.supports(Capability.CONNECTION_MANAGER)).isTrue();
    }

    @Test
    void withoutTheKernelModuleThereIsNoChannel() {
        fake.fail("rdma_create_event_channel", 2);
        assertThatThrownBy(() -> ConnectionManager.open(context)).hasMessageContainingAll("ENOENT", "rdma_ucm");
    }
}
