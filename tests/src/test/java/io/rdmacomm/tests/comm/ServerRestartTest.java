package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.comm.ConnectedPair.eventually;
import static io.rdmacomm.tests.comm.ReconnectingClient.QUICKLY;
import static io.rdmacomm.tests.fixture.PeerFailure.peer;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.EndPointState;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.OperationException;
import io.rdmacomm.comm.PeerFailedException;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.Reconnect;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.PrivateMemory;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.statistics.ChannelCounter;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A client whose server is killed and started again, a process of its own each time.
@ExtendWith(LeakCheck.class)
@Tag("slow")
@Timeout(300)
final class ServerRestartTest {
    private static final int RESTARTS = Amount.of(20, 3);
    private static final Reconnect PATIENTLY = QUICKLY.withGiveUpAfter(Duration.ofMinutes(2));

    private static SessionOptions options(Line line, int port) {
        return line.options(WorkMode.ADAPTIVE, ThreadMode.PER_QUEUE_PAIR)
                .withAddress("127.0.0.1", port)
                .withReconnect(PATIENTLY);
    }

    private static PeerProgram server(int port) throws IOException {
        return PeerProgram.start("service", "" + port);
    }

    private static int port(PeerProgram server) throws IOException {
        return Integer.parseInt(server.readLine());
    }

    @ParameterizedTest
    @EnumSource(Line.class)
    void aClientOutlivesManyServers(Line line) throws IOException {
        PeerProgram server = server(0);
        try {
            int port = port(server);
            ReconnectingClient told = new ReconnectingClient();
            try (ClientSession client =
                    ClientSession.connect(options(line, port).withListener(told))) {
                RdmaBuffer source = client.allocate("source", 64);
                int files = 0;
                for (int restart = 0; restart < RESTARTS; restart++) {
                    EndPoint endPoint = client.awaitEndPoint(TIMEOUT);
                    talk(endPoint, source);
                    eventually(() -> client.endPoints().size() == 1);
                    if (restart == 1) {
                        files = PrivateMemory.contents().size();
                    } else if (restart > 1) {
                        assertThat(PrivateMemory.contents()).hasSizeLessThanOrEqualTo(files + 2);
                    }

                    server.kill();
                    eventually(() -> endPoint.state() == EndPointState.FAILED);
                    assertThat(endPoint.failure()).satisfies(peer(PeerFailedException.Reason.GONE));
                    server = server(port);
                }
                talk(client.awaitEndPoint(TIMEOUT), source);
                eventually(() -> told.newEndPoints().size() == RESTARTS);
                assertThat(told.newEndPoints()).doesNotHaveDuplicates();
                assertThat(told.givenUp).isEmpty();
            }
        } finally {
            server.close();
        }
    }

    private static void talk(EndPoint endPoint, RdmaBuffer source) {
        RdmaChannel channel = endPoint.channel(0);
        RemoteBuffer remote = endPoint.peerBuffer("target", TIMEOUT);
        channel.blocking(TIMEOUT).write(source.block(0), remote, 0);
        channel.blocking(TIMEOUT).send(source.slice(0, 8), 5);
        try (Message message = channel.blocking(TIMEOUT).receive()) {
            assertThat(message.tag()).isEqualTo(5);
        }
    }

    @Test
    void aServerThatIsGoneForGoodIsGivenUp() throws IOException {
        try (PeerProgram server = server(0)) {
            Reconnect options = QUICKLY.withGiveUpAfter(Duration.ofSeconds(1));
            try (ClientSession client = ClientSession.connect(
                    options(Line.SHARED_MEMORY, port(server)).withReconnect(options))) {
                server.kill();
                eventually(() -> client.endPoint().state() == EndPointState.FAILED);
                assertThatThrownBy(() -> client.awaitEndPoint(TIMEOUT))
                        .isInstanceOf(ClosedException.class)
                        .hasMessageContaining("has given up reconnecting");
            }
        }
    }

    /// How often an operation has ended.
    private record Account(AtomicInteger ends) {}

    /// The operations of one kind, all of which have to end exactly once.
    private static final class Accounts {
        private final List<Account> accepted = new ArrayList<>();
        private final AtomicLong done = new AtomicLong();

        Account open() {
            Account account = new Account(new AtomicInteger());
            accepted.add(account);
            return account;
        }

        void rejected() {
            accepted.removeLast();
        }

        void end(Account account, boolean success) {
            account.ends().incrementAndGet();
            if (success) {
                done.incrementAndGet();
            }
        }

        void check() {
            eventually(
                    () -> accepted.stream().allMatch(account -> account.ends().get() > 0));
            assertThat(accepted).allMatch(account -> account.ends().get() == 1);
            assertThat(done.get()).isPositive();
        }
    }

    /// Operations of all three forms in flight whenever the server is killed.
    @ParameterizedTest
    @EnumSource(Line.class)
    void everyOperationEndsOnceWhileServersComeAndGo(Line line) throws Exception {
        int restarts = Math.max(2, RESTARTS / 4);
        PeerProgram server = server(0);
        try {
            int port = port(server);
            try (ClientSession client = ClientSession.connect(options(line, port))) {
                BufferSlice source = client.allocate("source", 64).block(0);
                Load load = new Load(client, source);
                List<FutureTask<@Nullable Void>> loads = load.start();
                for (int restart = 0; restart < restarts; restart++) {
                    EndPoint endPoint = client.awaitEndPoint(TIMEOUT);
                    RdmaChannel channel = endPoint.channel(0);
                    eventually(() -> channel.statistics().value(ChannelCounter.COMPLETED) > 1_000);
                    server.kill();
                    eventually(() -> endPoint.state() == EndPointState.FAILED);
                    server = server(port);
                }
                EndPoint last = client.awaitEndPoint(TIMEOUT);
                eventually(() -> last.channel(0).statistics().value(ChannelCounter.COMPLETED) > 1_000);
                load.stop();
                for (FutureTask<@Nullable Void> each : loads) {
                    each.get(60, TimeUnit.SECONDS);
                }
                load.check();
            }
        } finally {
            server.close();
        }
    }

    /// One thread per form of operations. Each goes on with the next endpoint when one has failed.
    private static final class Load {
        private final ClientSession client;
        private final BufferSlice source;
        private final Accounts handlers = new Accounts();
        private final Accounts futures = new Accounts();
        private final Accounts calls = new Accounts();
        private volatile boolean stopped;

        Load(ClientSession client, BufferSlice source) {
            this.client = client;
            this.source = source;
        }

        private interface Work {
            void on(RdmaChannel channel, RemoteBuffer remote);
        }

        List<FutureTask<@Nullable Void>> start() {
            List<FutureTask<@Nullable Void>> loads = new ArrayList<>();
            for (Work work : List.<Work>of(this::tryWrite, this::futureWrite, this::blockingWrite)) {
                FutureTask<@Nullable Void> task = new FutureTask<>(() -> repeat(work), null);
                Thread.ofVirtual().start(task);
                loads.add(task);
            }
            return loads;
        }

        private void repeat(Work work) {
            while (!stopped) {
                EndPoint endPoint = client.awaitEndPoint(TIMEOUT);
                try {
                    RemoteBuffer remote = endPoint.peerBuffer("target", TIMEOUT);
                    while (!stopped) {
                        work.on(endPoint.channel(0), remote);
                    }
                } catch (ClosedException | OperationException e) {
                    assertThat(endPoint.state()).isNotEqualTo(EndPointState.READY);
                }
            }
        }

        private void tryWrite(RdmaChannel channel, RemoteBuffer remote) {
            Account account = handlers.open();
            if (!channel.tryWrite(
                            source,
                            remote,
                            0,
                            (on, context, status, result) -> handlers.end(account, status == WorkStatus.SUCCESS),
                            0)
                    .isAccepted()) {
                handlers.rejected();
                channel.checkOpen();
                Thread.onSpinWait();
            }
        }

        private void futureWrite(RdmaChannel channel, RemoteBuffer remote) {
            List<CompletableFuture<?>> some = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                Account account = futures.open();
                try {
                    some.add(channel.async()
                            .write(source, remote, 0)
                            .whenComplete((nothing, failure) -> futures.end(account, failure == null)));
                } catch (RdmaException e) {
                    futures.rejected();
                    throw e;
                }
            }
            some.forEach(future -> future.exceptionally(failure -> null).join());
        }

        private void blockingWrite(RdmaChannel channel, RemoteBuffer remote) {
            Account account = calls.open();
            boolean success = false;
            try {
                channel.blocking(TIMEOUT).write(source, remote, 0);
                success = true;
            } finally {
                calls.end(account, success);
            }
        }

        void stop() {
            stopped = true;
        }

        void check() {
            handlers.check();
            futures.check();
            calls.check();
        }
    }
}
