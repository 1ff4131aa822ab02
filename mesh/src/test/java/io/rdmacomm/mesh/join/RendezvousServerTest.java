package io.rdmacomm.mesh.join;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.Secret;
import io.rdmacomm.comm.SetupFailedException;
import io.rdmacomm.comm.SetupFailedException.Reason;
import io.rdmacomm.comm.exchange.Exchange;
import io.rdmacomm.comm.exchange.ExchangeOptions;
import io.rdmacomm.mesh.launch.MeetingPoint;
import io.rdmacomm.verbs.DeadlineException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The place where nodes meet, with nodes that fit and others. No device takes part.
final class RendezvousServerTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final Duration STEP = Duration.ofSeconds(5);
    private static final int SIZE = 3;
    private static final int VERSION = 1;
    private static final ExchangeOptions OPEN =
            ExchangeOptions.of("io.rdmacomm.mesh").withStep(STEP);

    private final List<AutoCloseable> open = new ArrayList<>();
    private int port;
    private RendezvousServer host;

    @BeforeEach
    void listen() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        host = RendezvousServer.listen("localhost", port, node(0), OPEN);
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
        host.close();
    }

    private static NodeRegistration node(int rank) {
        return node(rank, SIZE, 2, "job", TIMEOUT);
    }

    private static NodeRegistration node(int rank, int size, int channels, String job, Duration timeout) {
        return new NodeRegistration(size, rank, 1000 + rank, channels, timeout, job);
    }

    private RendezvousClient visit(Duration timeout) {
        return visit(timeout, OPEN);
    }

    private RendezvousClient visit(Duration timeout, ExchangeOptions options) {
        RendezvousClient visit = RendezvousClient.reach(
                MeetingPoint.of(1, SIZE, "localhost", port), options, System.nanoTime() + timeout.toNanos());
        open.add(visit);
        return visit;
    }

    /// Registers on a new thread.
    private CompletableFuture<NodeTable> register(RendezvousClient visit, NodeRegistration node) {
        return CompletableFuture.supplyAsync(
                () -> visit.register(node, VERSION), task -> Thread.ofVirtual().start(task));
    }

    private static <T> T get(CompletableFuture<T> future) {
        return future.orTimeout(TIMEOUT.toSeconds(), TimeUnit.SECONDS).join();
    }

    private static Consumer<Throwable> because(Reason reason) {
        return thrown -> assertThat(thrown)
                .isInstanceOfSatisfying(
                        SetupFailedException.class,
                        failed -> assertThat(failed.reason()).isEqualTo(reason));
    }

    @Test
    void allNodesGetTheSameTableAndReadyWhenAllAre() {
        List<RendezvousClient> visits = List.of(visit(TIMEOUT), visit(TIMEOUT), visit(TIMEOUT));
        List<CompletableFuture<NodeTable>> tables = new ArrayList<>();
        for (int rank = SIZE - 1; rank >= 0; rank--) {
            tables.add(register(visits.get(rank), node(rank)));
        }

        List<NodeTable> received =
                tables.stream().map(RendezvousServerTest::get).toList();
        assertThat(received).containsOnly(received.getFirst());
        assertThat(received.getFirst().nodes())
                .extracting(NodeTable.Entry::port)
                .containsExactly(1000, 1001, 1002);
        assertThat(received.getFirst().nodes())
                .as("all are on the host of the rendezvous")
                .extracting(NodeTable.Entry::address)
                .containsOnlyNulls();

        visits.get(0).ready();
        visits.get(1).ready();
        CompletableFuture<Void> ready = CompletableFuture.runAsync(visits.get(0)::awaitAll, Thread::startVirtualThread);
        assertThat(ready).isNotDone();
        visits.get(2).ready();
        get(ready);
        visits.get(1).awaitAll();
        visits.get(2).awaitAll();
    }

    @ParameterizedTest
    @CsvSource({
        "1, 4, 2, job, it was started for 4 nodes",
        "1, 3, 5, job, it asks for 4 data channels",
        "1, 3, 2, other, it belongs to another job",
        "3, 3, 2, job, its rank is 3",
        "-1, 3, 2, job, its rank is -1"
    })
    void aNodeThatDoesNotFitGetsTheReasonAndTheOthersStillMeet(
            int rank, int size, int channels, String job, String reason) {
        RendezvousClient stranger = visit(TIMEOUT);
        assertThatThrownBy(() -> stranger.register(node(rank, size, channels, job, TIMEOUT), VERSION))
                .satisfies(because(Reason.REFUSED))
                .hasMessageContaining(reason);

        theOthersStillMeet();
    }

    private void theOthersStillMeet() {
        List<CompletableFuture<NodeTable>> tables = new ArrayList<>();
        for (int rank = 0; rank < SIZE; rank++) {
            tables.add(register(visit(TIMEOUT), node(rank)));
        }
        tables.forEach(table -> assertThat(get(table).nodes()).hasSize(SIZE));
    }

    @Test
    void theSecondNodeOfARankIsTurnedAway() {
        closeTheFirstOfTwins();
    }

    @Test
    void aNodeThatGoesAwayBeforeAllAreThereMayComeAgain() {
        closeTheFirstOfTwins();

        List<CompletableFuture<NodeTable>> tables = new ArrayList<>();
        tables.add(register(visit(TIMEOUT), node(0)));
        tables.add(register(visit(TIMEOUT), node(2)));
        tables.add(CompletableFuture.supplyAsync(this::registerAgain, Thread::startVirtualThread));
        tables.forEach(table -> assertThat(get(table).nodes()).hasSize(SIZE));
    }

    /// Registers two nodes of one rank, and closes the one that was not turned away.
    private void closeTheFirstOfTwins() {
        List<RendezvousClient> visits = List.of(visit(TIMEOUT), visit(TIMEOUT));
        List<CompletableFuture<NodeTable>> twins =
                visits.stream().map(visit -> register(visit, node(1))).toList();
        assertThatThrownBy(() -> CompletableFuture.anyOf(twins.get(0), twins.get(1))
                        .orTimeout(TIMEOUT.toSeconds(), TimeUnit.SECONDS)
                        .join())
                .satisfies(e -> because(Reason.REFUSED).accept(e.getCause()))
                .hasMessageContaining("rank 1 is there already");
        int first = twins.get(0).isDone() ? 1 : 0;
        assertThat(twins.get(first)).isNotDone();
        visits.get(first).close();
        assertThatThrownBy(() -> get(twins.get(first))).isNotNull();
    }

    /// The rendezvous may notice a moment later that the first one has gone.
    private NodeTable registerAgain() {
        while (true) {
            try {
                return visit(TIMEOUT).register(node(1), VERSION);
            } catch (SetupFailedException e) {
                assertThat(e).satisfies(because(Reason.REFUSED)).hasMessageContaining("is there already");
            }
        }
    }

    @Test
    void aNodeThatGoesAwayLaterEndsTheWaitOfAll() {
        List<RendezvousClient> visits = List.of(visit(TIMEOUT), visit(TIMEOUT), visit(TIMEOUT));
        List<CompletableFuture<NodeTable>> tables = new ArrayList<>();
        for (int rank = 0; rank < SIZE; rank++) {
            tables.add(register(visits.get(rank), node(rank)));
        }
        tables.forEach(RendezvousServerTest::get);
        visits.get(0).ready();

        visits.get(2).close();

        for (int rank = 0; rank < 2; rank++) {
            assertThatThrownBy(visits.get(rank)::awaitAll)
                    .satisfies(because(Reason.REFUSED))
                    .hasMessageContaining("rank 2 went away");
        }
    }

    @Test
    void aNodeThatComesAfterTheEndIsTurnedAway() {
        RegisteredNodes nodes = new RegisteredNodes(SIZE);
        nodes.giveUp();
        assertThat(nodes.add(1, null, new NodeTable.Entry(null, 1001))).contains("given up");
    }

    @Test
    void aDeadlineNamesTheMissingRanksAndWhoWasTurnedAway() {
        Duration brief = Duration.ofMillis(300);
        RendezvousClient stranger = visit(TIMEOUT);
        assertThatThrownBy(() -> stranger.register(node(2, 4, 2, "job", TIMEOUT), VERSION))
                .satisfies(because(Reason.REFUSED));

        RendezvousClient visit = visit(brief);
        assertThatThrownBy(() -> visit.register(node(1, SIZE, 2, "job", brief), VERSION))
                .isInstanceOf(DeadlineException.class)
                .hasMessageContainingAll("missing: ranks 0, 2", "last turned away", "it was started for 4 nodes");
    }

    @Test
    void aDeadlineNamesAPeerThatFailedInTheHandshake() {
        Duration brief = Duration.ofMillis(300);
        assertThatThrownBy(() -> Exchange.connect("localhost", port, ExchangeOptions.of("org.example.other"), TIMEOUT))
                .satisfies(because(Reason.PROTOCOL_VIOLATED));

        RendezvousClient visit = visit(brief);
        assertThatThrownBy(() -> visit.register(node(1, SIZE, 2, "job", brief), VERSION))
                .isInstanceOf(DeadlineException.class)
                .hasMessageContainingAll("last turned away: 127.0.0.1:", "org.example.other");
    }

    @Test
    void garbageAndSilenceDoNotDisturbTheOthers() throws IOException {
        long seed = System.nanoTime();
        System.out.println("seed of the garbage: " + seed);
        Random random = new Random(seed);
        for (int i = 0; i < 50; i++) {
            Socket stranger = new Socket(InetAddress.getLoopbackAddress(), port);
            open.add(stranger);
            byte[] bytes = new byte[random.nextInt(64)];
            random.nextBytes(bytes);
            if (i % 3 == 0) {
                // A frame that begins well.
                stranger.getOutputStream()
                        .write(new byte[] {'R', 'D', 'M', 'C', 0, 0, 0, 12, 0, 0, 0, (byte) bytes.length});
            }
            stranger.getOutputStream().write(bytes);
        }
        Socket http = new Socket(InetAddress.getLoopbackAddress(), port);
        open.add(http);
        http.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));

        theOthersStillMeet();
    }

    @Test
    void manySilentStrangersDoNotKeepNodesOut() throws IOException {
        for (int i = 0; i < 1100; i++) {
            open.add(new Socket(InetAddress.getLoopbackAddress(), port));
        }
        theOthersStillMeet();
    }

    /// It has connected before them and registers after them.
    @Test
    void aNodeThatGaveWayToStrangersConnectsAgain() throws IOException {
        RendezvousClient slow = visit(TIMEOUT);
        for (int i = 0; i < 600; i++) {
            open.add(new Socket(InetAddress.getLoopbackAddress(), port));
        }
        CompletableFuture<NodeTable> registering = register(slow, node(0));
        get(CompletableFuture.allOf(registering, register(visit(TIMEOUT), node(1)), register(visit(TIMEOUT), node(2))));
        assertThat(get(registering).nodes()).hasSize(SIZE);
    }

    private static ExchangeOptions proof(String secret) {
        return OPEN.withSecret(Secret.of(secret.getBytes(StandardCharsets.US_ASCII)));
    }

    @Test
    void onlyNodesWithTheSecretAreLetIn() {
        host.close();
        ExchangeOptions right = proof("the secret of the mesh");
        host = RendezvousServer.listen("localhost", port, node(0), right);
        RendezvousClient without = visit(TIMEOUT);
        assertThatThrownBy(() -> without.register(node(1), VERSION))
                .satisfies(because(Reason.UNPROVED))
                .hasMessageContaining("the server demands a secret");
        assertThatThrownBy(() -> visit(TIMEOUT, proof("the secret of another")))
                .satisfies(because(Reason.UNPROVED))
                .hasMessageContaining("is not that of the server");

        List<CompletableFuture<NodeTable>> tables = new ArrayList<>();
        for (int rank = 0; rank < SIZE; rank++) {
            tables.add(register(visit(TIMEOUT, right), node(rank)));
        }
        assertThat(tables.stream().map(RendezvousServerTest::get).distinct()).hasSize(1);
    }

    @Test
    void aNodeFindsARendezvousThatStartsLater() {
        host.close();
        CompletableFuture<NodeTable> waiting = CompletableFuture.supplyAsync(
                () -> visit(TIMEOUT).register(node(1), VERSION), Thread::startVirtualThread);
        host = RendezvousServer.listen("localhost", port, node(0), OPEN);
        CompletableFuture<NodeTable> others = register(visit(TIMEOUT), node(0));
        get(register(visit(TIMEOUT), node(2)));
        assertThat(get(waiting)).isEqualTo(get(others));
    }

    @Test
    void anUnknownHostAndATakenPortAreReportedAtOnce() {
        MeetingPoint unknown = MeetingPoint.of(1, SIZE, "no-such-host.invalid", port);
        assertThatThrownBy(() -> RendezvousClient.reach(unknown, OPEN, System.nanoTime() + TIMEOUT.toNanos()))
                .satisfies(because(Reason.HOST_UNKNOWN))
                .hasMessageContaining("no-such-host.invalid");
        assertThatThrownBy(() -> RendezvousServer.listen("localhost", port, node(0), OPEN))
                .satisfies(because(Reason.PORT_TAKEN));
    }

    @Test
    void theTableOfTheLargestMeshFitsIntoAMessage() {
        List<NodeTable.Entry> nodes = Collections.nCopies(
                MeetingPoint.MAX_SIZE, new NodeTable.Entry(InetAddress.ofLiteral("fd00::2"), 65535));
        NodeTable table = new NodeTable(new UUID(1, 2), VERSION, 0, nodes);
        assertThat(table.encode().remaining()).isLessThanOrEqualTo(Exchange.MAX_MESSAGE_BYTES);
        assertThat(NodeTable.decode(table.encode(), MeetingPoint.MAX_SIZE, VERSION, 0))
                .isEqualTo(table);
    }

    @Test
    void aTableWithPortZeroIsRejected() {
        NodeTable table = new NodeTable(new UUID(1, 2), VERSION, 0, List.of(new NodeTable.Entry(null, 0)));
        assertThatThrownBy(() -> NodeTable.decode(table.encode(), 1, VERSION, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("port 0");
    }

    /// The time for a step is that of the session's options.
    @Test
    void aStrangerThatIsSilentIsDroppedAfterOneStep() throws IOException {
        host.close();
        host = RendezvousServer.listen("localhost", port, node(0), OPEN.withStep(Duration.ofMillis(200)));
        try (Socket stranger = new Socket(InetAddress.getLoopbackAddress(), port)) {
            stranger.setSoTimeout((int) TIMEOUT.toMillis());
            stranger.getOutputStream().write(new byte[] {'R', 'D', 'M', 'C'});
            String answer = new String(stranger.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            assertThat(answer).contains("no complete frame within 200 ms");
        }
    }

    @Test
    void messagesSurviveTheWire() throws IOException {
        NodeRegistration node = new NodeRegistration(512, 511, 65535, 257, Duration.ofDays(1), "Größe");
        assertThat(NodeRegistration.decode(node.encode())).isEqualTo(node);
        NodeTable table = new NodeTable(
                new UUID(-1, 7),
                VERSION,
                0,
                List.of(
                        new NodeTable.Entry(null, 1),
                        new NodeTable.Entry(InetAddress.ofLiteral("10.0.0.1"), 65535),
                        new NodeTable.Entry(InetAddress.ofLiteral("fd00::2"), 2)));
        assertThat(NodeTable.decode(table.encode(), 3, VERSION, 0)).isEqualTo(table);
        assertThatThrownBy(() -> NodeTable.decode(table.encode(), 4, VERSION, 0))
                .isInstanceOf(IllegalArgumentException.class);
        for (int length = 0; length < table.encode().remaining(); length++) {
            var cut = table.encode().limit(length);
            assertThatThrownBy(() -> NodeTable.decode(cut, 3, VERSION, 0)).isInstanceOf(IllegalArgumentException.class);
        }
        for (int length = 0; length < node.encode().remaining(); length++) {
            var cut = node.encode().limit(length);
            assertThatThrownBy(() -> NodeRegistration.decode(cut)).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
