package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.SharedReceives;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import io.rdmacomm.tests.fixture.LeakCheck;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// The threads of a server with default options do not depend on the number of its clients and their
/// channels.
@ExtendWith(LeakCheck.class)
final class ServerThreadsTest {
    private static final int CLIENTS = 64;
    private static final int CHANNELS = 2;

    private static final SessionOptions OPTIONS = SessionOptions.defaults()
            .withPort(0)
            .withChannels(CHANNELS)
            .withChannel(
                    ChannelOptions.defaults().withReceives(2).withSendWindow(2).withMessageBytes(64));

    /// Those that virtual threads run on are as many as there are processors, whatever they do.
    private static Set<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> !name.startsWith("ForkJoinPool") && !name.startsWith("VirtualThread"))
                .collect(Collectors.toSet());
    }

    @Test
    void neitherClientsNorChannelsCostThreads() {
        // A server without threads for data can connect as often as it likes.
        try (ServerSession server = ServerSession.listen(OPTIONS);
                ServerSession clients = ServerSession.listen(OPTIONS.withThreadMode(ThreadMode.CALLER))) {
            connect(server, clients);
            Set<String> before = threads();
            for (int i = 1; i < CLIENTS; i++) {
                connect(server, clients);
            }

            Set<String> more = new HashSet<>(threads());
            more.removeAll(before);
            assertThat(server.endPoints()).hasSize(CLIENTS);
            assertThat(more).isEmpty();
        }
    }

    private static void connect(ServerSession server, ServerSession clients) {
        EndPoint there = clients.connect("127.0.0.1", server.port(), TIMEOUT);
        EndPoint here = server.accept(TIMEOUT);
        try (RdmaBuffer buffer = clients.allocate(64, 1)) {
            for (RdmaChannel channel : there.channels()) {
                channel.blocking(TIMEOUT).send(buffer.whole());
            }
            for (RdmaChannel channel : here.channels()) {
                try (Message message = channel.blocking(TIMEOUT).receive()) {
                    assertThat(message.segment().byteSize()).isEqualTo(64);
                }
            }
        }
    }

    @Test
    void thoseOfASessionAreKnown() {
        try (ServerSession server = ServerSession.listen(OPTIONS);
                ClientSession client = ClientSession.connect(OPTIONS.withPort(server.port()))) {
            assertThat(server.options().threadMode()).isEqualTo(ThreadMode.SHARED_CQ);
            assertThat(client.options().threadMode()).isEqualTo(ThreadMode.PER_QUEUE_PAIR);
        }
        SessionOptions set = OPTIONS.withThreadMode(ThreadMode.PER_QUEUE_PAIR);
        try (ServerSession server = ServerSession.listen(set)) {
            assertThat(server.options().threadMode()).isEqualTo(ThreadMode.PER_QUEUE_PAIR);
        }
    }

    /// Echoes each message, and notes which thread has handled the messages of which endpoint.
    private static Map<EndPoint, Set<String>> noting(ServerSession server) {
        Map<EndPoint, Set<String>> threads = new ConcurrentHashMap<>();
        for (EndPoint endPoint : server.endPoints()) {
            for (RdmaChannel channel : endPoint.channels()) {
                channel.onMessage((from, message) -> {
                    threads.computeIfAbsent(endPoint, _ -> ConcurrentHashMap.newKeySet())
                            .add(Thread.currentThread().getName());
                    var _ = from.async().send(message.segment());
                });
            }
        }
        return threads;
    }

    private static void askAll(ServerSession clients) {
        for (EndPoint endPoint : clients.endPoints()) {
            for (RdmaChannel channel : endPoint.channels()) {
                channel.blocking(TIMEOUT).send(new byte[8]);
                channel.blocking(TIMEOUT).receive().close();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void endPointsAreDividedAmongCompletionThreads(WorkMode mode) {
        SessionOptions options = OPTIONS.withName("divided").withWorkMode(mode).withCompletionThreads(3);
        try (ServerSession server = ServerSession.listen(options);
                ServerSession clients = ServerSession.listen(OPTIONS.withThreadMode(ThreadMode.CALLER))) {
            for (int i = 0; i < 6; i++) {
                connect(server, clients);
            }
            Map<EndPoint, Set<String>> threads = noting(server);
            askAll(clients);
            assertThat(threads)
                    .hasSize(6)
                    .allSatisfy((endPoint, names) -> assertThat(names).hasSize(1));
            assertThat(threads.values().stream().flatMap(Set::stream).toList())
                    .containsExactlyInAnyOrder(
                            "rdmacomm-divided-data-0",
                            "rdmacomm-divided-data-0",
                            "rdmacomm-divided-data-1",
                            "rdmacomm-divided-data-1",
                            "rdmacomm-divided-data-2",
                            "rdmacomm-divided-data-2");

            // The next endpoints go where others have ended.
            for (EndPoint endPoint : List.copyOf(server.endPoints())) {
                if (threads.get(endPoint).contains("rdmacomm-divided-data-1")) {
                    endPoint.close();
                }
            }
            ConnectedPair.eventually(() -> clients.endPoints().stream()
                            .filter(endPoint -> endPoint.channel(0).isOpen())
                            .count()
                    == 4);
            List.copyOf(clients.endPoints()).stream()
                    .filter(endPoint -> !endPoint.channel(0).isOpen())
                    .forEach(EndPoint::close);
            connect(server, clients);
            connect(server, clients);
            Map<EndPoint, Set<String>> after = noting(server);
            askAll(clients);
            assertThat(after.values().stream()
                            .flatMap(Set::stream)
                            .filter(name -> name.equals("rdmacomm-divided-data-1")))
                    .hasSize(2);
        }
    }

    @Test
    void aHandlerThatWaitsHoldsUpItsOwnThreadOnly() throws InterruptedException {
        try (ServerSession server = ServerSession.listen(OPTIONS.withCompletionThreads(2));
                ServerSession clients = ServerSession.listen(OPTIONS.withThreadMode(ThreadMode.CALLER))) {
            connect(server, clients);
            connect(server, clients);
            CountDownLatch other = new CountDownLatch(1);
            CountDownLatch waited = new CountDownLatch(1);
            server.endPoints().get(0).channel(0).onMessage((from, message) -> {
                try {
                    if (other.await(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
                        waited.countDown();
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            server.endPoints().get(1).channel(0).onMessage((from, message) -> other.countDown());
            EndPoint first = clients.endPoints().get(0);
            EndPoint second = clients.endPoints().get(1);
            first.channel(0).blocking(TIMEOUT).send(new byte[8]);
            second.channel(0).blocking(TIMEOUT).send(new byte[8]);
            assertThat(waited.await(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
        }
    }

    @Test
    void completionThreadsShareReceives() {
        SessionOptions options = OPTIONS.withCompletionThreads(2).withSharedReceives(SharedReceives.of(64, 16));
        try (ServerSession server = ServerSession.listen(options);
                ServerSession clients = ServerSession.listen(OPTIONS.withThreadMode(ThreadMode.CALLER))) {
            for (int i = 0; i < 4; i++) {
                connect(server, clients);
            }
            Map<EndPoint, Set<String>> threads = noting(server);
            for (int i = 0; i < 20; i++) {
                askAll(clients);
            }
            assertThat(threads).hasSize(4);
        }
    }

    @Test
    void severalThreadsNeedASharedQueue() {
        SessionOptions several = OPTIONS.withCompletionThreads(2);
        for (ThreadMode mode : List.of(ThreadMode.CALLER, ThreadMode.PER_QUEUE_PAIR)) {
            assertThatThrownBy(() -> ServerSession.listen(several.withThreadMode(mode)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("2 completion threads need the thread mode SHARED_CQ")
                    .hasMessageContaining(mode.toString());
        }
        for (int bad : new int[] {0, -1, 65}) {
            assertThatThrownBy(() -> OPTIONS.withCompletionThreads(bad)).isInstanceOf(IllegalArgumentException.class);
        }
        assertThat(several.completionThreads()).isEqualTo(2);
        assertThat(several.withWorkMode(WorkMode.POLLING)
                        .withCompletionVector(0)
                        .completionThreads())
                .isEqualTo(2);
    }
}
