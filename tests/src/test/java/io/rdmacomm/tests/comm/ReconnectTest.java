package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.comm.ConnectedPair.eventually;
import static io.rdmacomm.tests.comm.ReconnectingClient.QUICKLY;
import static io.rdmacomm.tests.fixture.SetupFailure.because;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.EndPointState;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.PeerDoneException;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.Reconnect;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionListener;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.SetupFailedException.Reason;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.statistics.ChannelCounter;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Clients that replace an endpoint that has failed.
@ExtendWith(LeakCheck.class)
@SuppressWarnings("try") // cases close one side early
final class ReconnectTest {
    private static final SessionOptions OPTIONS = SessionOptions.defaults().withAddress("127.0.0.1", 0);
    private static final Reconnect IN_AN_HOUR = Reconnect.defaults()
            .withPauses(Duration.ofHours(1), Duration.ofHours(1))
            .withGiveUpAfter(Duration.ofDays(1));

    static Stream<Arguments> modes() {
        return Line.modes();
    }

    private static void awaitFailed(EndPoint endPoint) {
        eventually(() -> endPoint.state() == EndPointState.FAILED);
    }

    @ParameterizedTest
    @MethodSource("modes")
    void aNewEndPointReplacesOneThatHasFailed(Line line, WorkMode work, ThreadMode thread) throws IOException {
        ReconnectingClient told = new ReconnectingClient();
        SessionOptions options = line.options(work, thread).withAddress("127.0.0.1", 0);
        try (ServerSession server = ServerSession.listen(options);
                CuttableLine cable = new CuttableLine(server.port());
                ClientSession client = ClientSession.connect(
                        options.withPort(cable.port()).withReconnect(QUICKLY).withListener(told))) {
            RdmaBuffer mine = client.allocate("mine", 64);
            RdmaBuffer its = server.allocate("its", 64);
            for (int round = 0; round < 3; round++) {
                EndPoint here = client.awaitEndPoint(TIMEOUT);
                EndPoint there = server.accept(TIMEOUT);
                exchange(here, there, mine, its, round);
                RemoteBuffer old = here.peerBuffer("its", TIMEOUT);

                cable.cut();

                awaitFailed(here);
                EndPoint next = client.awaitEndPoint(TIMEOUT);
                assertThat(next).isNotSameAs(here);
                assertThat(client.endPoint()).isSameAs(next);
                assertThat(next.channel(0)).isNotSameAs(here.channel(0));
                assertThatThrownBy(() -> next.channel(0).blocking(TIMEOUT).write(mine.slice(0, 8), old, 0))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("belongs to another endpoint");
                assertThatThrownBy(() -> here.channel(0).blocking(TIMEOUT).send(mine.slice(0, 8)))
                        .isInstanceOf(ClosedException.class);
                there.close();
            }
            eventually(() -> told.newEndPoints().size() == 3);
            assertThat(told.givenUp).isEmpty();
            eventually(() -> client.endPoints().size() == 1);
        }
    }

    /// The buffers are those of the session, and are announced on each endpoint.
    private static void exchange(EndPoint here, EndPoint there, RdmaBuffer mine, RdmaBuffer its, int value) {
        here.announce(mine, AccessFlag.allRemote());
        there.announce(its, AccessFlag.allRemote());
        mine.segment().set(JAVA_LONG, 0, value);
        RemoteBuffer remote = here.peerBuffer("its", TIMEOUT);
        CompletableFuture<Void> answer = CompletableFuture.runAsync(
                () -> {
                    try (Message message = there.channel(0).blocking(TIMEOUT).receive()) {
                        assertThat(message.tag()).isEqualTo(value);
                    }
                    there.channel(0).blocking(TIMEOUT).write(its.slice(8, 8), there.peerBuffer("mine", TIMEOUT), 8);
                },
                task -> Thread.ofVirtual().start(task));
        its.segment().set(JAVA_LONG, 8, ~value);
        here.channel(0).blocking(TIMEOUT).write(mine.slice(0, 8), remote, 0);
        here.channel(0).blocking(TIMEOUT).send(mine.slice(0, 8), value);
        answer.join();
        assertThat(its.segment().get(JAVA_LONG, 0)).isEqualTo(value);
        assertThat(mine.segment().get(JAVA_LONG, 8)).isEqualTo(~value);
    }

    @Test
    void theListenerIsToldOfTheOldEndFirst() throws IOException {
        ReconnectingClient told = new ReconnectingClient();
        try (ServerSession server = ServerSession.listen(OPTIONS);
                CuttableLine cable = new CuttableLine(server.port());
                ClientSession client = ClientSession.connect(
                        OPTIONS.withPort(cable.port()).withReconnect(QUICKLY).withListener(told))) {
            EndPoint first = client.endPoint();
            cable.cut();
            awaitFailed(first);
            EndPoint second = client.awaitEndPoint(TIMEOUT);
            eventually(() -> told.newEndPoints().size() == 1);
            cable.cut();
            awaitFailed(second);
            EndPoint third = client.awaitEndPoint(TIMEOUT);
            eventually(() -> told.newEndPoints().size() == 2);

            assertThat(told.events)
                    .extracting(ReconnectingClient.Event::endPoint)
                    .containsExactly(first, second, second, third);
            assertThat(told.events)
                    .extracting(ReconnectingClient.Event::isNew)
                    .containsExactly(false, true, false, true);
            assertThat(told.events.getFirst().failure()).isNotNull().isSameAs(first.failure());
        }
    }

    /// A listener may wait for the endpoint that comes next, and receive what has arrived on the one that has ended.
    @Test
    void whatHasArrivedCanBeReceivedInOnEnd() throws IOException {
        CompletableFuture<Integer> received = new CompletableFuture<>();
        CompletableFuture<EndPoint> next = new CompletableFuture<>();
        CompletableFuture<ClientSession> session = new CompletableFuture<>();
        SessionListener listener = new SessionListener() {
            @Override
            public void onEnd(EndPoint endPoint, @Nullable RdmaException failure) {
                if (received.isDone()) {
                    return;
                }
                next.complete(session.join().awaitEndPoint(TIMEOUT));
                try (Message message = endPoint.channel(0).blocking(TIMEOUT).receive()) {
                    received.complete(message.tag());
                } catch (RuntimeException e) {
                    received.completeExceptionally(e);
                }
            }
        };
        try (ServerSession server = ServerSession.listen(OPTIONS);
                CuttableLine cable = new CuttableLine(server.port());
                ClientSession client = ClientSession.connect(
                        OPTIONS.withPort(cable.port()).withReconnect(QUICKLY).withListener(listener))) {
            session.complete(client);
            EndPoint first = client.endPoint();
            RdmaChannel there = server.accept(TIMEOUT).channel(0);
            there.blocking(TIMEOUT).send(server.allocate("text", 8).block(0), 77);
            eventually(() -> first.channel(0).statistics().value(ChannelCounter.MESSAGES) == 1);

            cable.cut();

            assertThat(received.join()).isEqualTo(77);
            assertThat(next.join()).isNotSameAs(first);
            eventually(() -> client.endPoints().size() == 1);
        }
    }

    @Test
    void withoutAServerItGivesUpAndSaysSo() throws IOException {
        ReconnectingClient told = new ReconnectingClient();
        Reconnect options = QUICKLY.withGiveUpAfter(Duration.ofMillis(500));
        ServerSession server = ServerSession.listen(OPTIONS);
        try (CuttableLine cable = new CuttableLine(server.port());
                ClientSession client = ClientSession.connect(
                        OPTIONS.withPort(cable.port()).withReconnect(options).withListener(told))) {
            EndPoint only = client.endPoint();
            cable.close();
            awaitFailed(only);
            server.close();

            assertThatThrownBy(() -> client.awaitEndPoint(TIMEOUT))
                    .isInstanceOf(ClosedException.class)
                    .hasMessageContaining("has given up reconnecting to 127.0.0.1:" + cable.port())
                    .hasMessageContaining("in 500 ms; the last failure: no program listens")
                    .satisfies(e -> because(Reason.REFUSED).accept(e.getCause()));
            assertThat(client.endPoint()).isSameAs(only);
            assertThat(only.state()).isEqualTo(EndPointState.FAILED);
            eventually(() -> told.givenUp.size() == 1);
            assertThat(told.givenUp.getFirst()).hasMessageContaining("has given up");
            // 5, 10, 20, 40 and then 50 ms: with a pause before each, there is no room for more.
            eventually(() -> !told.refusals.isEmpty());
            assertThat(told.refusals).hasSizeLessThanOrEqualTo(12).allSatisfy(because(Reason.REFUSED));
            eventually(() -> client.endPoints().isEmpty());
            assertThat(client.isOpen()).isTrue();
        } finally {
            server.close();
        }
    }

    @Test
    void closingDuringAPauseEndsItAtOnce() throws IOException {
        try (ServerSession server = ServerSession.listen(OPTIONS);
                CuttableLine cable = new CuttableLine(server.port());
                ClientSession client =
                        ClientSession.connect(OPTIONS.withPort(cable.port()).withReconnect(IN_AN_HOUR))) {
            EndPoint only = client.endPoint();
            cable.cut();
            awaitFailed(only);
            assertThatThrownBy(() -> client.awaitEndPoint(Duration.ofMillis(50)))
                    .isInstanceOf(DeadlineException.class)
                    .hasMessageContaining("has not reconnected to 127.0.0.1:" + cable.port() + " within 50 ms")
                    .hasCause(only.failure());
            CompletableFuture<EndPoint> waiting = CompletableFuture.supplyAsync(
                    () -> client.awaitEndPoint(Duration.ofHours(1)),
                    task -> Thread.ofVirtual().start(task));

            client.close();

            assertThatThrownBy(() -> waiting.get(20, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOf(ClosedException.class)
                    .hasMessageContaining("is closed");
            assertThatThrownBy(() -> client.awaitEndPoint(TIMEOUT)).isInstanceOf(ClosedException.class);
            assertThat(client.endPoint()).isSameAs(only);
        }
    }

    @Test
    void closingDuringAnAttemptEndsItAtOnce() throws IOException, InterruptedException {
        ServerSession server = ServerSession.listen(OPTIONS);
        CountDownLatch called = new CountDownLatch(1);
        try (ClientSession client = ClientSession.connect(OPTIONS.withPort(server.port())
                .withReconnect(QUICKLY.withAfterPeerDone(true))
                .withDeadlines(OPTIONS.deadlines().withHandshake(Duration.ofHours(1))))) {
            int port = server.port();
            server.close();
            try (ServerSocket silent = new ServerSocket(port, 10, InetAddress.ofLiteral("127.0.0.1"))) {
                Thread.ofVirtual().start(() -> {
                    try (var _ = silent.accept()) {
                        called.countDown();
                        silent.accept();
                    } catch (IOException e) {
                        // The case is over.
                    }
                });
                assertThat(called.await(20, TimeUnit.SECONDS)).isTrue();

                client.close();
            }
            assertThatThrownBy(() -> client.awaitEndPoint(TIMEOUT)).hasMessageContaining("is closed");
        } finally {
            server.close();
        }
    }

    @Test
    void aServerThatRefusesIsAskedAgain() throws IOException {
        ReconnectingClient told = new ReconnectingClient();
        try (ServerSession server = ServerSession.listen(OPTIONS.withMaxChannels(2));
                ClientSession client = ClientSession.connect(OPTIONS.withPort(server.port())
                        .withChannels(2)
                        .withReconnect(QUICKLY.withAfterPeerDone(true))
                        .withListener(told))) {
            SessionOptions samePort = OPTIONS.withPort(server.port());
            server.close();
            try (ServerSession _ = ServerSession.listen(samePort.withMaxChannels(1))) {
                eventually(() -> told.refusals.stream()
                        .anyMatch(refusal -> refusal.getMessage().contains("1 are granted at most")));
            }
            try (ServerSession another = ServerSession.listen(samePort.withMaxChannels(2))) {
                assertThat(client.awaitEndPoint(TIMEOUT).channels()).hasSize(2);
                assertThat(another.accept(TIMEOUT).peerName()).isEqualTo(client.name());
            }
        }
    }

    @Test
    void anOrderlyEndIsAnEndUnlessTheOptionsSayOtherwise() throws IOException {
        ServerSession server = ServerSession.listen(OPTIONS);
        SessionOptions options = OPTIONS.withPort(server.port()).withReconnect(QUICKLY);
        ReconnectingClient told = new ReconnectingClient();
        try (ClientSession one = ClientSession.connect(options.withListener(told));
                ClientSession two = ClientSession.connect(options.withReconnect(QUICKLY.withAfterPeerDone(true)))) {
            EndPoint first = one.endPoint();
            EndPoint second = two.endPoint();
            server.accept(TIMEOUT);
            server.accept(TIMEOUT);

            server.close();
            try (ServerSession _ = ServerSession.listen(OPTIONS.withPort(options.port()))) {
                EndPoint next = two.awaitEndPoint(TIMEOUT);
                assertThat(next).isNotSameAs(second);
                assertThat(second.failure()).isNull();
                eventually(() -> second.state() == EndPointState.CLOSED);

                eventually(() -> told.events.size() == 1);
                assertThat(first.state()).isEqualTo(EndPointState.PEER_DONE);
                assertThatThrownBy(() -> one.awaitEndPoint(TIMEOUT)).isInstanceOf(PeerDoneException.class);
                assertThat(told.newEndPoints()).isEmpty();
            }
        } finally {
            server.close();
        }
    }

    @Test
    void anEndPointThatTheProgramClosesIsNotReplaced() {
        try (ServerSession server = ServerSession.listen(OPTIONS);
                ClientSession client = ClientSession.connect(
                        OPTIONS.withPort(server.port()).withReconnect(QUICKLY.withAfterPeerDone(true)))) {
            EndPoint only = client.endPoint();
            only.close();

            assertThatThrownBy(() -> client.awaitEndPoint(TIMEOUT))
                    .isInstanceOf(ClosedException.class)
                    .hasMessageContaining("is CLOSED");
            assertThat(client.endPoint()).isSameAs(only);
        }
    }

    @Test
    void withoutTheOptionNothingIsReplaced() throws IOException {
        try (ServerSession server = ServerSession.listen(OPTIONS);
                CuttableLine cable = new CuttableLine(server.port());
                ClientSession client = ClientSession.connect(OPTIONS.withPort(cable.port()))) {
            EndPoint only = client.endPoint();
            assertThat(client.awaitEndPoint(TIMEOUT)).isSameAs(only);
            cable.cut();
            awaitFailed(only);

            assertThatThrownBy(() -> client.awaitEndPoint(TIMEOUT))
                    .isInstanceOf(ClosedException.class)
                    .hasCause(only.failure());
            assertThat(client.endPoints()).containsExactly(only);
        }
    }

    /// Such a server is not called without a pause, although each call succeeds.
    @Test
    void pausesGrowWhileEndPointsFailAtOnce() throws IOException {
        Reconnect options = QUICKLY.withPauses(Duration.ofMillis(20), Duration.ofSeconds(60));
        try (ServerSession server = ServerSession.listen(OPTIONS);
                CuttableLine cable = new CuttableLine(server.port());
                ClientSession client =
                        ClientSession.connect(OPTIONS.withPort(cable.port()).withReconnect(options))) {
            long start = System.nanoTime();
            for (int round = 0; round < 5; round++) {
                EndPoint here = client.awaitEndPoint(TIMEOUT);
                cable.cut();
                awaitFailed(here);
            }
            client.awaitEndPoint(TIMEOUT);

            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .isGreaterThanOrEqualTo(Duration.ofMillis(20 + 40 + 80 + 160 + 320));
            assertThat(cable.connections()).isEqualTo(6);
        }
    }

    @Test
    void aHandlerMustNotWaitForAnEndPoint() throws IOException {
        AtomicInteger refused = new AtomicInteger();
        try (ServerSession server = ServerSession.listen(OPTIONS);
                ClientSession client = ClientSession.connect(OPTIONS.withPort(server.port()))) {
            client.endPoint().channel(0).onMessage((channel, message) -> {
                try {
                    client.awaitEndPoint(TIMEOUT);
                } catch (IllegalStateException e) {
                    refused.incrementAndGet();
                }
            });
            server.accept(TIMEOUT)
                    .channel(0)
                    .blocking(TIMEOUT)
                    .send(server.allocate("text", 8).block(0));
            eventually(() -> refused.get() == 1);
        }
    }

    /// A listener may close the session, also the one that is told of a failed attempt.
    @Test
    void aListenerMayCloseTheSession() throws IOException {
        CompletableFuture<ClientSession> session = new CompletableFuture<>();
        SessionListener listener = new SessionListener() {
            @Override
            public void onRefused(String peer, RdmaException failure) {
                session.join().close();
            }
        };
        try (ServerSession server = ServerSession.listen(OPTIONS);
                CuttableLine cable = new CuttableLine(server.port());
                ClientSession client = ClientSession.connect(
                        OPTIONS.withPort(cable.port()).withReconnect(QUICKLY).withListener(listener))) {
            session.complete(client);
            cable.close();
            eventually(() -> !client.isOpen());
            assertThatThrownBy(() -> client.awaitEndPoint(TIMEOUT)).hasMessageContaining("is closed");
            assertThat(List.copyOf(client.endPoints())).hasSizeLessThanOrEqualTo(1);
        }
    }
}
