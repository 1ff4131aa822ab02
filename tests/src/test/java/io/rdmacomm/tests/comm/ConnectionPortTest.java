package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.comm.ConnectedPair.eventually;
import static io.rdmacomm.tests.fixture.SetupFailure.because;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.Deadlines;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionListener;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.Setup;
import io.rdmacomm.comm.SetupFailedException.Reason;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.LocalEnd;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.PortForward;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRejectedException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Servers whose connection manager listens on a named port behind a port forward: clients do not know the
/// address that the server listens on.
@ExtendWith(LeakCheck.class)
final class ConnectionPortTest {
    private static final String INSIDE = "127.0.0.2";
    private static final SessionOptions CLIENT = SessionOptions.defaults();

    /// A server behind a forward of its two ports.
    private static final class Service implements AutoCloseable {
        final ServerSession server;
        final PortForward sessions;
        final PortForward queuePairs;

        Service(SessionOptions options) throws IOException {
            this(options, PortForward.freePort());
        }

        /// @param outside the port that clients connect queue pairs to; 0 for another one than inside
        Service(SessionOptions options, int outside) throws IOException {
            int inside = outside == 0 ? PortForward.freePort() : outside;
            server = ServerSession.listen(options.withAddress(INSIDE, 0).withConnectionPort(inside));
            sessions = new PortForward(0, new InetSocketAddress(INSIDE, server.port()));
            queuePairs = new PortForward(outside, new InetSocketAddress(INSIDE, inside));
        }

        SessionOptions of(SessionOptions client) {
            return client.withAddress("127.0.0.1", sessions.port());
        }

        @Override
        public void close() throws IOException {
            try (sessions;
                    queuePairs) {
                server.close();
            }
        }
    }

    /// Sends the first message of each channel back, and writes it into the memory that the client has
    /// announced.
    private static void answer(ServerSession server, EndPoint endPoint) {
        try (endPoint;
                RdmaBuffer text = server.allocate("text for " + endPoint.name(), 64)) {
            RemoteBuffer board = endPoint.peerBuffer("board", TIMEOUT);
            for (RdmaChannel channel : endPoint.channels()) {
                int length;
                try (Message message = channel.blocking(TIMEOUT).receive()) {
                    length = (int) message.segment().byteSize();
                    text.segment().copyFrom(message.segment());
                }
                channel.blocking(TIMEOUT).write(text.slice(0, length), board, 64L * channel.index());
                channel.blocking(TIMEOUT).send(text.slice(0, length));
            }
            endPoint.awaitPeerDone(TIMEOUT);
        }
    }

    /// The client of [#answer].
    private static void ask(SessionOptions options, String who) {
        try (ClientSession client = ClientSession.connect(options)) {
            RdmaBuffer board = client.allocate("board", 64, options.channels());
            RdmaBuffer text = client.allocate("text", 64);
            client.endPoint().announce(board, AccessFlag.allRemote());
            for (RdmaChannel channel : client.endPoint().channels()) {
                String words = who + " on channel " + channel.index();
                text.segment().setString(0, words, UTF_8);
                channel.blocking(TIMEOUT).send(text.slice(0, words.length()));
                try (Message message = channel.blocking(TIMEOUT).receive()) {
                    assertThat(message.text()).isEqualTo(words);
                }
                assertThat(board.segment().getString(64L * channel.index(), UTF_8))
                        .isEqualTo(words);
            }
        }
    }

    /// Answers `clients` of them while `calls` are made.
    private static void answering(ServerSession server, int clients, Callable<?> calls) throws Exception {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> answers = new ArrayList<>();
            Future<?> accepting = threads.submit(() -> {
                for (int i = 0; i < clients; i++) {
                    EndPoint endPoint = server.accept(TIMEOUT);
                    answers.add(threads.submit(() -> answer(server, endPoint)));
                }
            });
            calls.call();
            accepting.get();
            for (Future<?> answer : answers) {
                answer.get();
            }
        }
    }

    @Test
    void sessionsComeThroughAPortForward() throws Exception {
        try (Service service = new Service(SessionOptions.defaults())) {
            answering(service.server, 1, Executors.callable(() -> ask(service.of(CLIENT.withChannels(3)), "one")));

            assertThat(service.sessions.calls()).isEqualTo(1);
            assertThat(service.queuePairs.calls())
                    .as("three data channels and the control channel")
                    .isEqualTo(4);
        }
    }

    @Test
    void oneClientComesAfterTheOther() throws Exception {
        try (Service service = new Service(SessionOptions.defaults())) {
            answering(service.server, 20, Executors.callable(() -> {
                for (int i = 0; i < 20; i++) {
                    ask(service.of(CLIENT), "client " + i);
                }
            }));
            eventually(() -> service.server.endPoints().isEmpty());
        }
    }

    @ParameterizedTest
    @EnumSource(ThreadMode.class)
    void manyClientsAreSetUpAtOnceAndEachHasItsOwnChannels(ThreadMode mode) throws Exception {
        int clients = 8;
        try (Service service = new Service(SessionOptions.defaults().withThreadMode(mode));
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            answering(service.server, clients, () -> {
                CountDownLatch together = new CountDownLatch(clients);
                List<Future<?>> asking = new ArrayList<>();
                for (int i = 0; i < clients; i++) {
                    String who = "client " + i;
                    asking.add(threads.submit(() -> {
                        together.countDown();
                        together.await();
                        ask(service.of(CLIENT.withChannels(3)), who);
                        return who;
                    }));
                }
                for (Future<?> each : asking) {
                    each.get();
                }
                return clients;
            });
            assertThat(service.queuePairs.calls()).isEqualTo(clients * 4);
        }
    }

    @Test
    void aForwardMayChangeTheNumberOfThePort() throws Exception {
        try (Service service = new Service(SessionOptions.defaults(), 0)) {
            SessionOptions told = service.of(CLIENT).withConnectionPort(service.queuePairs.port());

            answering(service.server, 1, Executors.callable(() -> ask(told, "told")));

            assertThat(service.queuePairs.calls()).isEqualTo(2);
        }
    }

    @Test
    void aBlockedPortIsNamed() throws Exception {
        try (Service service = new Service(SessionOptions.defaults(), 0)) {
            assertThatThrownBy(() -> ClientSession.connect(service.of(CLIENT)))
                    .satisfies(because(Reason.REFUSED))
                    .hasMessageContaining("port forwards have to let port "
                            + service.server.options().connectionPort() + " through");
        }
    }

    @Test
    void aTakenPortIsReportedWhenTheServerStarts() throws Exception {
        SessionOptions options = SessionOptions.defaults().withAddress(INSIDE, PortForward.freePort());
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.ofLiteral(INSIDE))) {
            assertThatThrownBy(() -> ServerSession.listen(options.withConnectionPort(other.getLocalPort())))
                    .satisfies(because(Reason.PORT_TAKEN))
                    .hasMessageContaining("port " + other.getLocalPort() + ": it is taken; choose another port");
        }
        try (ServerSession server = ServerSession.listen(options)) {
            assertThat(server.port()).as("was given back").isEqualTo(options.port());
        }
    }

    @Test
    void theTwoPortsMustDiffer() {
        int port = PortForward.freePort();

        assertThatThrownBy(() -> ServerSession.listen(
                        SessionOptions.defaults().withAddress(INSIDE, port).withConnectionPort(port)))
                .satisfies(because(Reason.PORT_TAKEN));
    }

    @Test
    void aServerOnAllAddressesIsReachedAtEachOfThem() throws Exception {
        SessionOptions options =
                SessionOptions.defaults().withAllAddresses().withPort(0).withConnectionPort(PortForward.freePort());
        try (ServerSession server = ServerSession.listen(options)) {
            answering(server, 3, Executors.callable(() -> {
                for (String address : new String[] {"127.0.0.1", INSIDE, "::1"}) {
                    ask(CLIENT.withAddress(address, server.port()), address);
                }
            }));
        }
    }

    @Test
    void thePortIsFreeAgainWhenTheServerHasClosed() throws Exception {
        SessionOptions options = SessionOptions.defaults()
                .withAddress(INSIDE, PortForward.freePort())
                .withConnectionPort(PortForward.freePort());
        for (int i = 0; i < 3; i++) {
            try (ServerSession server = ServerSession.listen(options)) {
                answering(server, 1, Executors.callable(() -> ask(CLIENT.withAddress(INSIDE, server.port()), "again")));
            }
        }
    }

    @Test
    void aPortAsksForTheConnectionManagerUnlessNumbersAreAskedForAfterIt() throws Exception {
        SessionOptions options = SessionOptions.defaults().withConnectionPort(PortForward.freePort());
        assertThat(options.setup()).isEqualTo(Setup.CONNECTION_MANAGER);
        assertThat(SessionOptions.defaults().withConnectionPort(0).setup()).isEqualTo(Setup.AUTOMATIC);
        assertThatThrownBy(() -> options.withConnectionPort(65536))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("connection port is 65536, must be 0 to 65535");

        SessionOptions numbers = options.withSetup(Setup.NUMBERS).withAddress(INSIDE, 0);
        try (ServerSession server = ServerSession.listen(numbers);
                ServerSocket free = new ServerSocket(numbers.connectionPort(), 1, InetAddress.ofLiteral(INSIDE))) {
            assertThat(free.isBound()).isTrue();
            answering(server, 1, Executors.callable(() -> ask(CLIENT.withAddress(INSIDE, server.port()), "numbers")));
        }
    }

    /// A listener that records why clients were refused.
    private static SessionListener keeping(LinkedBlockingQueue<RdmaException> refusals) {
        return new SessionListener() {
            @Override
            public void onRefused(String peer, RdmaException failure) {
                refusals.add(failure);
            }
        };
    }

    /// Sessions are forwarded, but connection requests for queue pairs are never answered.
    @Test
    void aClientWhoseQueuePairsNeverConnectDelaysNoOther() throws Exception {
        LinkedBlockingQueue<RdmaException> refusals = new LinkedBlockingQueue<>();
        SessionOptions impatient =
                SessionOptions.defaults().withDeadlines(Deadlines.defaults().withHandshake(Duration.ofSeconds(3)));
        try (ServerSocket silent = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
                Service service = new Service(impatient.withListener(keeping(refusals)), 0);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            SessionOptions lost = service.of(impatient).withConnectionPort(silent.getLocalPort());
            Future<ClientSession> stuck = threads.submit(() -> ClientSession.connect(lost));
            silent.accept();

            answering(service.server, 3, Executors.callable(() -> {
                for (int i = 0; i < 3; i++) {
                    ask(service.of(CLIENT).withConnectionPort(service.queuePairs.port()), "client " + i);
                }
            }));

            assertThatThrownBy(stuck::get)
                    .hasCauseInstanceOf(DeadlineException.class)
                    .hasMessageContaining("port forwards have to let port " + silent.getLocalPort() + " through");
            assertThat(refusals.poll(TIMEOUT.toSeconds(), TimeUnit.SECONDS))
                    .isInstanceOf(DeadlineException.class)
                    .hasMessageContaining("let port " + service.server.options().connectionPort() + " through");
        }
    }

    @Test
    void strangersAreRejectedAtOnceAndDisturbNoOther() throws Exception {
        try (Service service = new Service(SessionOptions.defaults());
                LocalEnd end = LocalEnd.open("soft0");
                ConnectionManager manager = ConnectionManager.open(end.context())) {
            InetSocketAddress target =
                    new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), service.queuePairs.port());
            answering(service.server, 5, () -> {
                for (int i = 0; i < 5; i++) {
                    for (byte[] ticket : new byte[][] {{}, {1, 2, 3}, new byte[10], new byte[251]}) {
                        try (LocalQueue queue = end.queue(Spec.usual())) {
                            ConnectionParameters parameters =
                                    ConnectionParameters.defaults().withPrivateData(ticket);
                            assertThatThrownBy(() -> manager.connect(target, queue.queuePair(), parameters, TIMEOUT))
                                    .isInstanceOf(ConnectionRejectedException.class);
                        }
                    }
                    ask(service.of(CLIENT), "client " + i);
                }
                return null;
            });
        }
    }

    @Test
    void closingTheServerEndsSetUpsInProgress() throws Exception {
        LinkedBlockingQueue<RdmaException> refusals = new LinkedBlockingQueue<>();
        SessionOptions patient =
                SessionOptions.defaults().withDeadlines(Deadlines.defaults().withHandshake(Duration.ofHours(1)));
        Service service = new Service(patient.withListener(keeping(refusals)), 0);
        try (ServerSocket silent = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            SessionOptions lost = service.of(patient).withConnectionPort(silent.getLocalPort());
            Future<ClientSession> stuck = threads.submit(() -> ClientSession.connect(lost));
            try (silent;
                    Socket _ = silent.accept()) {
                service.close();
                assertThat(refusals.poll(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isInstanceOf(ClosedException.class);
            }
            assertThatThrownBy(stuck::get)
                    .satisfies(e -> because(Reason.REFUSED).accept(e.getCause()));
        }
    }
}
