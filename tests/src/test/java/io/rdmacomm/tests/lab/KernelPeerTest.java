package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.tests.fixture.EndQueue;
import io.rdmacomm.tests.fixture.LocalEnd;
import io.rdmacomm.tests.fixture.LocalMemory;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.cm.Connection;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRejectedException;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.Listener;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The software device and the kernel's siw as peers, request by request, in one process: what they negotiate, and
/// how a rejected request ends on both sides. Each case runs with the devices in either role.
@EnabledIfEnvironmentVariable(named = "LAB", matches = "yes", disabledReason = "it needs siw0: lab/suite lab")
class KernelPeerTest {
    private static final String ADDRESS = "10.8.0.1";
    private static final String DEVICES = "rdmacomm.soft.devices";
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final ConnectionParameters DEFAULTS = ConnectionParameters.defaults();
    private static final int BYTES = 64 * 1024;
    /// Longer than a READ that is split at a page boundary, whose first part would be allowed.
    private static final int FORBIDDEN_BYTES = 64;
    private static final int RECEIVE = 100;

    private static String devicesBefore;

    private Side soft;
    private Side kernel;

    /// One side: a device with a queue pair and a region.
    private static final class Side implements AutoCloseable {
        private final LocalEnd end;
        private final ConnectionManager manager;
        private final LocalQueue queue;
        private final LocalMemory memory;

        Side(String device) {
            end = LocalEnd.open(device);
            manager = ConnectionManager.open(end.context());
            queue = end.queue(Spec.usual());
            memory = end.allocate(BYTES, AccessFlag.allRemote());
        }

        /// Posts receive number [#RECEIVE] before the peer can send.
        Side withReceive() {
            queue.initialize(ConnectionOptions.defaults());
            queue.receive(RECEIVE, memory.piece(0, BYTES / 2));
            return this;
        }

        @Override
        public void close() {
            try (LocalEnd _ = end) {
                manager.close();
            }
        }
    }

    /// The two ends of a connection.
    private record Both(Connection active, Connection passive) {
        void awaitEnd() throws InterruptedException {
            assertThat(active.awaitDisconnect(TIMEOUT)).as("%s ends", active).isTrue();
            assertThat(passive.awaitDisconnect(TIMEOUT)).as("%s ends", passive).isTrue();
        }
    }

    @BeforeAll
    static void useTheAddressOfTheKernelsDevice() {
        devicesBefore = System.getProperty(DEVICES);
        System.setProperty(DEVICES, "soft0=" + ADDRESS + "?sharedMemory=false&checksum=true");
    }

    @AfterAll
    static void putTheDevicesBack() {
        if (devicesBefore == null) {
            System.clearProperty(DEVICES);
        } else {
            System.setProperty(DEVICES, devicesBefore);
        }
    }

    @BeforeEach
    void open() {
        soft = new Side("soft0");
        kernel = new Side("siw0");
    }

    @AfterEach
    void close() {
        try (Side _ = soft) {
            kernel.close();
        }
    }

    private Side asking(boolean softAsks) {
        return softAsks ? soft : kernel;
    }

    private Side asked(boolean softAsks) {
        return softAsks ? kernel : soft;
    }

    private static CompletableFuture<Connection> connecting(
            Side from, Listener<ConnectionRequest> to, ConnectionParameters how) {
        return CompletableFuture.supplyAsync(
                () -> from.manager.connect(to.localAddress(), from.queue.queuePair(), how, TIMEOUT));
    }

    private static Connection get(CompletableFuture<Connection> connecting)
            throws InterruptedException, ExecutionException, TimeoutException {
        return connecting.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    }

    private static Listener<ConnectionRequest> listen(Side side) {
        return side.manager.listen(new InetSocketAddress(ADDRESS, 0), 4);
    }

    private static ConnectionRequest request(Listener<ConnectionRequest> listener) throws InterruptedException {
        ConnectionRequest request = listener.awaitRequest(TIMEOUT);
        assertThat(request).as("a request").isNotNull();
        return request;
    }

    private static Both connect(Side from, Side to, ConnectionParameters how) throws Exception {
        try (Listener<ConnectionRequest> listener = listen(to)) {
            CompletableFuture<Connection> connecting = connecting(from, listener, how);
            try (ConnectionRequest request = request(listener)) {
                Connection passive = request.accept(to.queue.queuePair(), how, TIMEOUT);
                return new Both(get(connecting), passive);
            }
        }
    }

    private static byte[] pattern(int length, int seed) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    private static void assertEnded(Side side, long id, WorkStatus... possible) {
        Outcome outcome = side.queue.one();
        assertThat(outcome.id()).as(outcome.toString()).isEqualTo(id);
        assertThat(outcome.status()).as(outcome.toString()).isIn((Object[]) possible);
    }

    private static void assertEmpty(byte[] bytes) {
        assertThat(Arrays.equals(bytes, new byte[bytes.length]))
                .as("all is still zero")
                .isTrue();
    }

    // ---- Negotiation ----

    @ParameterizedTest
    @CsvSource({"true, 0", "true, 1", "true, 251", "false, 0", "false, 1", "false, 251"})
    void privateDataTravelsInBothDirections(boolean softAsks, int length) throws Exception {
        byte[] question = pattern(length, 3);
        byte[] answer = pattern(length, 4);
        Side server = asked(softAsks);
        try (Listener<ConnectionRequest> listener = listen(server)) {
            CompletableFuture<Connection> connecting =
                    connecting(asking(softAsks), listener, DEFAULTS.withPrivateData(question));
            try (ConnectionRequest request = request(listener)) {
                assertThat(request.privateData()).isEqualTo(question);
                request.accept(server.queue.queuePair(), DEFAULTS.withPrivateData(answer), TIMEOUT);
                assertThat(get(connecting).privateData()).isEqualTo(answer);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"true, 0", "true, 1", "true, 251", "false, 0", "false, 1", "false, 251"})
    void aRejectionCarriesPrivateData(boolean softAsks, int length) throws Exception {
        byte[] answer = pattern(length, 5);
        try (Listener<ConnectionRequest> listener = listen(asked(softAsks))) {
            CompletableFuture<Connection> connecting = connecting(asking(softAsks), listener, DEFAULTS);
            try (ConnectionRequest request = request(listener)) {
                request.reject(answer);
            }
            assertThatThrownBy(() -> get(connecting))
                    .cause()
                    .isInstanceOfSatisfying(
                            ConnectionRejectedException.class,
                            refusal -> assertThat(refusal.privateData()).isEqualTo(answer));
        }
    }

    /// The sides agreed on one READ at a time; further READs wait.
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void moreReadsThanAgreedWait(boolean softAsks) throws Exception {
        Side asking = asking(softAsks);
        Side asked = asked(softAsks);
        byte[] data = pattern(BYTES, 6);
        asked.memory.write(0, data);
        Both both = connect(asking, asked, DEFAULTS.withDepths(1, 1));
        assertThat(both.active().initiatorDepth()).isEqualTo(1);
        Work[] reads = new Work[8];
        long each = BYTES / reads.length;
        for (int i = 0; i < reads.length; i++) {
            reads[i] = Work.read(i, asked.memory.remote().slice(i * each, each), asking.memory.piece(i * each, each));
        }
        asking.queue.post(reads);
        assertThat(asking.queue.drain(reads.length)).allMatch(done -> done.status() == WorkStatus.SUCCESS);
        assertThat(asking.memory.read(0, BYTES)).isEqualTo(data);
    }

    /// As a single READ, siw would answer it with wrong bytes.
    @Test
    void readsAFewBytesAcrossAPageFromSiw() throws Exception {
        Side asking = asking(true);
        Side asked = asked(true);
        byte[] data = pattern(BYTES, 8);
        asked.memory.write(0, data);
        connect(asking, asked, DEFAULTS);
        int page = (int) (-asked.memory.remote().address() & 4095) + 4096;
        for (int before : new int[] {1, 4, 30}) {
            Work read = Work.read(before, asked.memory.remote().slice(page - before, 31), asking.memory.piece(0, 31));
            asking.queue.post(read);
            assertThat(asking.queue.one().status()).isEqualTo(WorkStatus.SUCCESS);
            assertThat(asking.memory.read(0, 31))
                    .isEqualTo(Arrays.copyOfRange(data, page - before, page - before + 31));
        }
    }

    /// A peer that allows no READs receives none; everything else works.
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void sendsNoReadsIfThePeerAllowsNone(boolean softListens) throws Exception {
        soft.withReceive();
        kernel.withReceive();
        connect(asked(softListens), asking(softListens), DEFAULTS.withDepths(0, 0));
        for (Side from : List.of(asked(softListens), asking(softListens))) {
            Side to = from.equals(soft) ? kernel : soft;
            from.queue.post(Work.send(1, from.memory.piece(0, 8)));
            assertEnded(from, 1, WorkStatus.SUCCESS);
            assertEnded(to, RECEIVE, WorkStatus.SUCCESS);
        }
        soft.queue.post(Work.read(2, kernel.memory.remote(), soft.memory.piece(0, 8)));
        assertEnded(soft, 2, WorkStatus.REMOTE_INVALID_REQUEST);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void zeroBytesCanBeSentWrittenAndRead(boolean softAsks) throws Exception {
        Side asking = asking(softAsks);
        Side asked = asked(softAsks).withReceive();
        connect(asking, asked, DEFAULTS);
        RemoteMemory nowhere = new RemoteMemory(0xdead0000L, 0, 0xbad);
        asking.queue.post(
                Work.send(1, asking.memory.piece(0, 0)),
                Work.write(2, nowhere, asking.memory.piece(0, 0)),
                Work.read(3, nowhere, asking.memory.piece(0, 0)));
        List<Outcome> outcomes = asking.queue.drain(3);
        assertThat(outcomes).allMatch(done -> done.status() == WorkStatus.SUCCESS);
        assertThat(outcomes).extracting(Outcome::id).containsExactlyInAnyOrder(1L, 2L, 3L);
        assertThat(asked.queue.one().bytes()).isZero();
    }

    /// The accepting side may send at once: siw right after its reply, the software device as soon as the protocol
    /// allows.
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theAcceptingSideSendsFirst(boolean softListens) throws Exception {
        Side server = softListens ? soft : kernel;
        Side client = softListens ? kernel : soft;
        client.withReceive();
        server.memory.write(0, pattern(8, 7));
        connect(client, server, DEFAULTS);
        server.queue.post(Work.send(1, server.memory.piece(0, 8)));
        if (softListens) {
            // siw never requests the peer-to-peer mode of RFC 6581, so the initiator must send first.
            server.queue.receive(2, server.memory.piece(8, 8));
            client.queue.post(Work.send(3, client.memory.piece(BYTES / 2, 8)));
            assertThat(client.queue.drain(2)).allMatch(done -> done.status() == WorkStatus.SUCCESS);
        } else {
            assertEnded(client, RECEIVE, WorkStatus.SUCCESS);
        }
        assertThat(client.memory.read(0, 8)).isEqualTo(pattern(8, 7));
    }

    // ---- Rejected requests ----

    /// The mistakes that a request can make.
    enum Forbidden {
        KEY,
        BOUNDS,
        DOMAIN,
        RIGHT;

        private RemoteMemory in(Side side) {
            RemoteMemory right = side.memory.remote();
            return switch (this) {
                case KEY -> new RemoteMemory(right.address(), right.length(), right.key() ^ 0x5a5a00);
                case BOUNDS -> new RemoteMemory(right.address() + BYTES - 4, FORBIDDEN_BYTES, right.key());
                case DOMAIN ->
                    side.end
                            .allocateInOtherDomain(BYTES, AccessFlag.allRemote())
                            .remote();
                case RIGHT ->
                    side.end.allocate(BYTES, Set.of(AccessFlag.LOCAL_WRITE)).remote();
            };
        }
    }

    /// A WRITE succeeds when TCP has accepted it. The rejection ends the connection, and the software device
    /// knows why.
    @ParameterizedTest
    @CsvSource({
        "true, KEY, 'DDP tagged, invalid key'",
        "true, BOUNDS, 'DDP tagged, outside of the memory'",
        "true, DOMAIN, 'DDP tagged, key of another domain'",
        "true, RIGHT, 'DDP tagged, invalid key'",
        "false, KEY, 'DDP tagged, invalid key'",
        "false, BOUNDS, 'DDP tagged, outside of the memory'",
        "false, DOMAIN, 'DDP tagged, key of another domain'",
        "false, RIGHT, 'right'"
    })
    void rejectsAWriteThatIsNotAllowed(boolean softAsks, Forbidden what, String reason) throws Exception {
        Side asking = asking(softAsks);
        Side asked = asked(softAsks).withReceive();
        Both both = connect(asking, asked, DEFAULTS);
        asking.queue.post(Work.write(1, what.in(asked), asking.memory.piece(0, FORBIDDEN_BYTES)));
        assertEnded(asking, 1, WorkStatus.SUCCESS);
        both.awaitEnd();
        assertEnded(asked, RECEIVE, WorkStatus.FLUSHED);
        assertThat((softAsks ? both.active() : both.passive()).disconnectReason())
                .contains(reason);
        assertEmpty(asked.memory.read(0, BYTES));
    }

    /// The software device knows which READ was rejected and why; siw flushes it. siw does not check the access right
    /// for READs.
    @ParameterizedTest
    @CsvSource({
        "true, KEY, 'RDMAP remote protection, invalid key'",
        "true, BOUNDS, 'RDMAP remote protection, outside of the memory'",
        "true, DOMAIN, 'RDMAP remote protection, key of another domain'",
        "false, KEY, 'RDMAP remote protection, invalid key'",
        "false, BOUNDS, 'RDMAP remote protection, outside of the memory'",
        "false, DOMAIN, 'RDMAP remote protection, key of another domain'",
        "false, RIGHT, 'RDMAP remote protection, access right missing'"
    })
    void rejectsAReadThatIsNotAllowed(boolean softAsks, Forbidden what, String reason) throws Exception {
        Side asking = asking(softAsks);
        Side asked = asked(softAsks).withReceive();
        asked.memory.fill(1);
        Both both = connect(asking, asked, DEFAULTS);
        asking.queue.post(Work.read(1, what.in(asked), asking.memory.piece(0, FORBIDDEN_BYTES)));
        assertEnded(asking, 1, softAsks ? WorkStatus.REMOTE_ACCESS_ERROR : WorkStatus.FLUSHED);
        both.awaitEnd();
        assertEnded(asked, RECEIVE, WorkStatus.FLUSHED);
        assertThat((softAsks ? both.active() : both.passive()).disconnectReason())
                .contains(reason);
        assertEmpty(asking.memory.read(0, BYTES));
    }

    /// iWARP has no receiver-not-ready, so the connection ends (RFC 5040 7.2).
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aSendWithoutAReceiveEndsTheConnection(boolean softAsks) throws Exception {
        Side asking = asking(softAsks).withReceive();
        Side asked = asked(softAsks);
        Both both = connect(asking, asked, DEFAULTS);
        asking.queue.post(Work.send(1, asking.memory.piece(0, 8)));
        assertEnded(asking, 1, WorkStatus.SUCCESS);
        both.awaitEnd();
        assertEnded(asking, RECEIVE, WorkStatus.FLUSHED);
        assertThat((softAsks ? both.active() : both.passive()).disconnectReason())
                .contains("no receive");
    }

    // ---- Disconnects ----

    /// The memory may hold the beginning of the message and nothing else. siw passes a message of any length to TCP
    /// before it ends the connection.
    @Test
    void disconnectsInTheMiddleOfAMessage() throws Exception {
        Side asking = soft;
        Side asked = kernel.withReceive();
        int bytes = 8 * 1024 * 1024;
        LocalMemory source = asking.end.allocate(bytes, AccessFlag.allRemote());
        LocalMemory target = asked.end.allocate(bytes, AccessFlag.allRemote());
        source.fill(1);
        Both both = connect(asking, asked, DEFAULTS);
        asking.queue.post(Work.write(1, target.remote(), source.piece(0, bytes)));
        asking.queue.close();
        both.awaitEnd();
        assertEnded(asked, RECEIVE, WorkStatus.FLUSHED);
        byte[] arrived = target.read(0, bytes);
        int end = Arrays.mismatch(arrived, source.read(0, bytes));
        assertThat(end).as("number of bytes that arrived if not all did").isNotNegative();
        assertEmpty(Arrays.copyOfRange(arrived, end, bytes));
        assertThat(asked.queue.collect(1, EndQueue.TIMEOUT_MILLIS / 100)).isEmpty();
    }
}
