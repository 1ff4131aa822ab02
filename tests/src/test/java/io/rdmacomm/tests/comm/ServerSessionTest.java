package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.comm.ConnectedPair.eventually;
import static io.rdmacomm.tests.fixture.PeerFailure.peer;
import static io.rdmacomm.tests.fixture.SetupFailure.because;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.Deadlines;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.PeerFailedException;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionListener;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.SetupFailedException.Reason;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import io.rdmacomm.comm.setup.FrameType;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.statistics.ChannelCounter;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// Servers with many clients, hostile clients, and clients without a server.
final class ServerSessionTest {
    private static final SessionOptions OPTIONS = SessionOptions.defaults().withAddress("127.0.0.1", 0);

    private static Socket connect(ServerSession session) throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), session.port());
    }

    /// A listener may be told of a client before `listen` has returned.
    @Test
    void anEndPointKnowsItsSessionAndKeepsAnObjectOfTheProgram() throws InterruptedException {
        LinkedBlockingQueue<EndPoint> told = new LinkedBlockingQueue<>();
        LinkedBlockingQueue<Object> ended = new LinkedBlockingQueue<>();
        SessionListener listener = new SessionListener() {
            @Override
            public void onEndPoint(EndPoint endPoint) {
                RdmaBuffer table = endPoint.session().allocate("table of " + endPoint.name(), 64);
                endPoint.attach(table);
                told.add(endPoint);
            }

            @Override
            public void onEnd(EndPoint endPoint, RdmaException failure) {
                ended.add(endPoint.attachment());
            }
        };
        try (ServerSession server = ServerSession.listen(OPTIONS.withListener(listener))) {
            EndPoint end;
            Object table;
            try (ClientSession client = ClientSession.connect(OPTIONS.withPort(server.port()))) {
                end = told.poll(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
                assertThat(end.session()).isSameAs(server);
                assertThat(client.endPoint().session()).isSameAs(client);
                assertThat(client.endPoint().attachment()).isNull();
                table = end.attachment();
                assertThat(table).isInstanceOf(RdmaBuffer.class);
            }
            assertThat(ended.poll(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)).isSameAs(table);
            assertThat(end.attach(null)).isSameAs(table);
            assertThat(end.attachment()).isNull();
        }
    }

    @Test
    void silentAndHostileClientsDelayNoOther() throws IOException {
        LinkedBlockingQueue<RdmaException> refused = new LinkedBlockingQueue<>();
        SessionListener listener = new SessionListener() {
            @Override
            public void onRefused(String peer, RdmaException failure) {
                refused.add(failure);
            }
        };
        byte[] absurd = ByteBuffer.allocate(12)
                .put("RDMC".getBytes(UTF_8))
                .putShort((short) 0)
                .putShort((short) FrameType.GREETING.code())
                .putInt(0x7fffffff)
                .array();
        try (ServerSession server = ServerSession.listen(OPTIONS.withListener(listener));
                Socket silent = connect(server);
                Socket talkative = connect(server);
                Socket huge = connect(server);
                Socket gone = connect(server)) {
            talkative.getOutputStream().write("GET / HTTP/1.0\r\n\r\n".getBytes(UTF_8));
            huge.getOutputStream().write(absurd);
            gone.shutdownOutput();
            try (ClientSession client = ClientSession.connect(OPTIONS.withPort(server.port()))) {
                EndPoint end = server.accept(TIMEOUT);
                assertThat(end.peerName()).isEqualTo(client.name());
            }
            eventually(() -> refused.size() == 3);
            assertThat(refused)
                    .hasExactlyElementsOfTypes(
                            refused.stream().map(Object::getClass).toArray(Class[]::new))
                    .allSatisfy(why -> assertThat(why)
                            .satisfiesAnyOf(because(Reason.PROTOCOL_VIOLATED), peer(PeerFailedException.Reason.GONE)));
            assertThat(silent.isConnected()).isTrue();
            assertThat(server.endPoints()).hasSizeLessThanOrEqualTo(1);
        }
    }

    @Test
    void aSilentClientIsDroppedAfterTheDeadlineAndToldWhy() throws IOException, InterruptedException {
        LinkedBlockingQueue<RdmaException> refused = new LinkedBlockingQueue<>();
        SessionListener listener = new SessionListener() {
            @Override
            public void onRefused(String peer, RdmaException failure) {
                refused.add(failure);
            }
        };
        SessionOptions options =
                ConnectedPair.impatient(Deadlines::withHandshake).withAddress("127.0.0.1", 0);
        try (ServerSession server = ServerSession.listen(options.withListener(listener));
                Socket silent = connect(server)) {
            assertThat(refused.poll(10, TimeUnit.SECONDS)).isInstanceOf(DeadlineException.class);
            byte[] answer = silent.getInputStream().readAllBytes();
            assertThat(new String(answer, UTF_8)).startsWith("RDMC").contains("was silent");
        }
    }

    @Test
    void invalidDescriptionsAreRefused() throws IOException {
        ByteBuffer payload =
                ByteBuffer.allocate(18).put(0, (byte) 2).put(1, (byte) 1).putShort(2, (short) 999);
        try (ServerSession server = ServerSession.listen(OPTIONS);
                FramedSocket client = new FramedSocket(server.port())) {
            client.send(FrameType.HELLO, payload);
            assertThat(client.next().text()).contains("invalid description").contains("number of channels is 999");
        }
    }

    @Test
    void manyClientsComeAndGoForAsLongAsItIsOpen() throws InterruptedException {
        AtomicInteger served = new AtomicInteger();
        SessionListener service = new SessionListener() {
            @Override
            public void onEndPoint(EndPoint endPoint) {
                try (endPoint;
                        Message message = endPoint.channel(0).blocking(TIMEOUT).receive()) {
                    served.addAndGet(message.tag());
                }
            }
        };
        SessionOptions small = OPTIONS.withThreadMode(ThreadMode.SHARED_CQ)
                .withChannel(ChannelOptions.defaults().withReceives(8).withMessageBytes(64));
        try (ServerSession server = ServerSession.listen(small.withListener(service))) {
            for (int wave = 0; wave < 3; wave++) {
                List<Thread> clients = new ArrayList<>();
                for (int i = 0; i < 12; i++) {
                    clients.add(Thread.ofVirtual().start(() -> {
                        try (ClientSession client = ClientSession.connect(small.withPort(server.port()))) {
                            RdmaBuffer source = client.allocate("source", 8);
                            client.endPoint().channel(0).blocking(TIMEOUT).send(source.block(0), 1);
                            client.endPoint().awaitPeerDone(TIMEOUT);
                        }
                    }));
                }
                for (Thread client : clients) {
                    client.join();
                }
            }
            eventually(() -> served.get() == 36);
            eventually(() -> server.endPoints().isEmpty());
            assertThat(server.handlerErrors()).isZero();
        }
    }

    /// `bench` measures how long it takes.
    @Test
    void bothSidesKnowHowLongTheirSetUpTook() {
        SessionOptions options = OPTIONS.withThreadMode(ThreadMode.CALLER);
        try (ServerSession server = ServerSession.listen(options)) {
            long start = System.nanoTime();
            try (ClientSession client = ClientSession.connect(options.withPort(server.port()))) {
                EndPoint end = server.accept(TIMEOUT);
                Duration both = Duration.ofNanos(System.nanoTime() - start);
                assertThat(end.setupTime()).isPositive().isLessThan(both);
                assertThat(client.endPoint().setupTime()).isPositive().isLessThan(both);
            }
        }
    }

    @Test
    void aClientWaitsForAServerOnlyIfAsked() throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        SessionOptions options = OPTIONS.withPort(port);
        assertThatThrownBy(() -> ClientSession.connect(options)).satisfies(because(Reason.REFUSED));

        Thread late = Thread.ofVirtual().unstarted(() -> {
            try (ServerSession server = ServerSession.listen(options)) {
                server.accept(TIMEOUT).awaitPeerDone(TIMEOUT);
            }
        });
        Thread client = Thread.ofVirtual().start(() -> {
            try (ClientSession session = ClientSession.connect(options.withWaitForServer(true))) {
                session.endPoint().channel(0).poll();
            }
        });
        eventually(() -> client.getState() == Thread.State.TIMED_WAITING);
        late.start();
        eventually(() -> !client.isAlive() && !late.isAlive());
    }

    @Test
    void aClientThatNeverFindsAServerFailsAtItsDeadline() throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        SessionOptions options = ConnectedPair.impatient(Deadlines::withConnect)
                .withAddress("127.0.0.1", port)
                .withWaitForServer(true);
        long start = System.nanoTime();

        assertThatThrownBy(() -> ClientSession.connect(options))
                .satisfies(because(Reason.REFUSED))
                .hasMessageContaining("start the server");
        assertThat(Duration.ofNanos(System.nanoTime() - start))
                .isBetween(Duration.ofMillis(200), Duration.ofSeconds(5));
    }

    @Test
    void tooManyChannelsAreRejectedWithAReason() {
        try (ServerSession server = ServerSession.listen(OPTIONS.withMaxChannels(2))) {
            assertThatThrownBy(() -> ClientSession.connect(
                            OPTIONS.withPort(server.port()).withChannels(3)))
                    .satisfies(because(Reason.REFUSED))
                    .hasMessageContaining("3 data channels, 2 are granted");
            try (ClientSession client =
                    ClientSession.connect(OPTIONS.withPort(server.port()).withChannels(2))) {
                assertThat(client.endPoint().channels()).hasSize(2);
            }
        }
    }

    @Test
    void aSharedCompletionQueueGrowsWithItsChannelsAndNeverOverruns() {
        SessionOptions options = OPTIONS.withThreadMode(ThreadMode.SHARED_CQ)
                .withWorkMode(WorkMode.ADAPTIVE)
                .withChannels(24)
                .withMaxChannels(24)
                .withChannel(ChannelOptions.defaults().withSendWindow(64).withMessageBytes(64));
        try (ConnectedPair pair = ConnectedPair.of(options)) {
            RdmaBuffer counters = pair.server.allocate("counters", 8, 24);
            var remote = pair.target(counters);
            for (int round = 0; round < 200; round++) {
                for (int c = 0; c < 24; c++) {
                    var _ = pair.clientEnd.channel(c).async().fetchAndAdd(remote, c * 8L, 1);
                }
            }
            for (int c = 0; c < 24; c++) {
                assertThat(pair.clientEnd.channel(c).blocking(TIMEOUT).fetchAndAdd(remote, c * 8L, 1))
                        .isEqualTo(200);
                assertThat(counters.segment().get(JAVA_LONG, c * 8L)).isEqualTo(201);
            }
        }
    }

    @Test
    void anUnknownDeviceIsNamedTogetherWithTheExistingOnes() {
        assertThatThrownBy(() -> ServerSession.listen(OPTIONS.withDevice("mlx5_9")))
                .isInstanceOf(VerbException.class)
                .hasMessageContaining("'mlx5_9'")
                .hasMessageContaining("soft0");
    }

    @Test
    void aTakenPortIsNamed() {
        try (ServerSession server = ServerSession.listen(OPTIONS)) {
            assertThatThrownBy(() -> ServerSession.listen(OPTIONS.withPort(server.port())))
                    .isInstanceOf(RdmaException.class)
                    .hasMessageContaining("cannot listen on 127.0.0.1:" + server.port())
                    .hasMessageContaining("choose another port");
        }
    }

    @Test
    void handlersThatThrowAreCountedAndReportedAndStopNothing() {
        Set<String> reports = ConcurrentHashMap.newKeySet();
        SessionListener listener = new SessionListener() {
            @Override
            public void onError(String where, Throwable failure) {
                reports.add(where + ": " + failure.getMessage());
                throw new IllegalStateException("the listener itself");
            }

            @Override
            public void onEndPoint(EndPoint endPoint) {
                throw new IllegalStateException("onEndPoint");
            }
        };
        try (ConnectedPair pair =
                new ConnectedPair(SessionOptions.defaults().withListener(listener), SessionOptions.defaults())) {
            RdmaBuffer source = pair.client.allocate("source", 8);
            pair.serverChannel().onMessage((on, message) -> {
                throw new AssertionError("message " + message.tag());
            });
            for (int i = 0; i < 300; i++) {
                pair.clientChannel().blocking(TIMEOUT).send(source.block(0), i % 2);
            }
            // Each counts twice, with the listener that is told of it; so does onEndPoint.
            eventually(() -> pair.server.handlerErrors() == 602);
            assertThat(pair.serverChannel().statistics().value(ChannelCounter.HANDLER_ERRORS))
                    .isEqualTo(300);
            assertThat(reports)
                    .anyMatch(report -> report.endsWith("message 0"))
                    .anyMatch(report -> report.endsWith("message 1"))
                    .anyMatch(report -> report.endsWith("onEndPoint"));
            assertThat(pair.serverEnd.failure()).isNull();
        }
    }

    @Test
    void theConfigurerDecidesOnEachChannel() {
        SessionOptions options = OPTIONS.withChannels(2)
                .withConfigurer(
                        (index, proposed) -> proposed.withSendWindow(10 + index).withMessageBytes(100 * (index + 1)));
        try (ConnectedPair pair =
                new ConnectedPair(options, SessionOptions.defaults().withChannels(2))) {
            assertThat(pair.serverEnd.channel(0).options().sendWindow()).isEqualTo(10);
            assertThat(pair.serverEnd.channel(1).options().sendWindow()).isEqualTo(11);
            assertThat(pair.clientEnd.channel(1).maxMessageBytes()).isEqualTo(200);
        }
    }

    @Test
    void aBarrierHoldsUntilBothSidesReachIt() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            AtomicInteger passed = new AtomicInteger();
            Thread early = Thread.ofVirtual().start(() -> {
                for (int i = 0; i < 20; i++) {
                    pair.clientEnd.barrier(TIMEOUT);
                    passed.incrementAndGet();
                }
            });
            for (int i = 0; i < 20; i++) {
                assertThat(passed.get()).isLessThanOrEqualTo(i);
                pair.serverEnd.barrier(TIMEOUT);
            }
            eventually(() -> !early.isAlive());
            assertThatThrownBy(() -> pair.serverEnd.barrier(Duration.ofMillis(20)))
                    .isInstanceOf(DeadlineException.class);
        }
    }
}
