package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.comm.ConnectedPair.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.rdmacomm.comm.Admission;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.CompletionHandler;
import io.rdmacomm.comm.Deadlines;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.EndPointState;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.PeerDoneException;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionListener;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.statistics.ChannelCounter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Closing: in order, in every state, from everywhere; and every operation ends exactly once.
final class CloseTest {
    @AfterEach
    void nothingIsLeftOpen() {
        assertThat(Rdma.openContexts()).isEmpty();
        eventually(() -> Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().startsWith("rdmacomm-")));
    }

    @ParameterizedTest
    @EnumSource(ThreadMode.class)
    void closingInOrderIsSeenAsSuchByThePeer(ThreadMode mode) {
        try (ConnectedPair pair = ConnectedPair.of(SessionOptions.defaults().withThreadMode(mode))) {
            CompletableFuture<Boolean> done =
                    CompletableFuture.supplyAsync(() -> pair.serverEnd.awaitPeerDone(TIMEOUT));

            pair.clientEnd.close();

            assertThat(done.join()).isTrue();
            assertThat(pair.clientEnd.state()).isEqualTo(EndPointState.CLOSED);
            assertThat(pair.clientEnd.failure()).isNull();
            assertThat(pair.serverEnd.state()).isEqualTo(EndPointState.PEER_DONE);
            assertThat(pair.serverEnd.failure()).isNull();
            assertThat(pair.server.endPoints()).hasSize(1);
            pair.serverEnd.close();
            assertThat(pair.serverEnd.state()).isEqualTo(EndPointState.CLOSED);
            assertThat(pair.server.endPoints()).isEmpty();
        }
    }

    @Test
    void closingIsIdempotentAndThreadSafe() throws InterruptedException {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            List<Thread> closers = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                EndPoint end = i % 2 == 0 ? pair.clientEnd : pair.serverEnd;
                closers.add(Thread.ofVirtual().start(end::close));
            }
            for (Thread closer : closers) {
                closer.join();
            }
            assertThat(pair.clientEnd.state()).isEqualTo(EndPointState.CLOSED);
            assertThat(pair.serverEnd.state()).isEqualTo(EndPointState.CLOSED);
        }
    }

    @Test
    void aThreadThatWasInterruptedClosesInOrder() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            Thread.currentThread().interrupt();
            pair.clientEnd.close();
            assertThat(Thread.interrupted()).isTrue();
            assertThat(pair.clientEnd.state()).isEqualTo(EndPointState.CLOSED);
            assertThat(pair.clientEnd.failure()).isNull();
            assertThat(pair.serverEnd.failure()).isNull();
        }
    }

    @Test
    void messagesSentBeforeTheCloseAreReceivedAfterIt() {
        SessionOptions options = SessionOptions.defaults().withThreadMode(ThreadMode.SHARED_CQ);
        try (ConnectedPair pair = ConnectedPair.of(options)) {
            BufferSlice slice = pair.client.allocate("source", 8).block(0);
            for (int i = 0; i < 50; i++) {
                while (!pair.clientChannel()
                        .trySend(slice, i, CompletionHandler.NONE, 0)
                        .isAccepted()) {
                    Thread.onSpinWait();
                }
            }
            pair.clientEnd.close();

            for (int i = 0; i < 50; i++) {
                try (Message message = pair.serverChannel().blocking(TIMEOUT).receive()) {
                    assertThat(message.tag()).isEqualTo(i);
                }
            }
            assertThatThrownBy(() -> pair.serverChannel().blocking(TIMEOUT).receive())
                    .isInstanceOf(PeerDoneException.class)
                    .hasMessageContaining("is done");
            assertThatThrownBy(() -> pair.serverChannel().tryReceive()).isInstanceOf(PeerDoneException.class);
            assertThatThrownBy(() -> pair.serverChannel().checkOpen()).isInstanceOf(PeerDoneException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(ThreadMode.class)
    void everyOperationThatWasTakenEndsExactlyOnceWhenItsSideCloses(ThreadMode mode) throws InterruptedException {
        try (ConnectedPair pair = ConnectedPair.of(SessionOptions.defaults().withThreadMode(mode))) {
            assertExactlyOnce(pair, pair.clientEnd::close);
        }
    }

    @ParameterizedTest
    @EnumSource(ThreadMode.class)
    void everyOperationThatWasTakenEndsExactlyOnceWhenThePeerCloses(ThreadMode mode) throws InterruptedException {
        try (ConnectedPair pair = ConnectedPair.of(SessionOptions.defaults().withThreadMode(mode))) {
            assertExactlyOnce(pair, pair.serverEnd::close);
        }
    }

    @ParameterizedTest
    @EnumSource(ThreadMode.class)
    void everyOperationThatWasTakenEndsExactlyOnceWhenOneFails(ThreadMode mode) throws InterruptedException {
        try (ConnectedPair pair = ConnectedPair.of(SessionOptions.defaults().withThreadMode(mode))) {
            RdmaBuffer source = pair.client.allocate("bad", 8);
            RemoteBuffer invented = RemoteBuffer.of("invented", 8, 8, 77, AccessFlag.allRemote());
            assertExactlyOnce(pair, () -> {
                try {
                    while (!pair.clientChannel()
                            .tryWrite(source.block(0), invented, 0, CompletionHandler.NONE, 0)
                            .isAccepted()) {
                        pair.clientChannel().checkOpen();
                        pair.client.poll();
                    }
                } catch (ClosedException e) {
                    throw new AssertionError(e);
                }
                eventually(() -> {
                    pair.client.poll();
                    return pair.clientEnd.state() == EndPointState.FAILED;
                });
                pair.clientEnd.close();
            });
        }
    }

    /// Writes from two threads while `event` happens.
    private static void assertExactlyOnce(ConnectedPair pair, Runnable event) throws InterruptedException {
        RdmaBuffer source = pair.client.allocate("source", 64);
        RemoteBuffer remote = pair.target(pair.server.allocate("target", 64));
        RdmaChannel channel = pair.clientChannel();
        int most = 1 << 22;
        byte[] ends = new byte[most];
        AtomicLong taken = new AtomicLong();
        AtomicLong ended = new AtomicLong();
        CompletionHandler handler = (on, context, status, result) -> {
            ends[(int) context]++;
            ended.incrementAndGet();
            assertThat(status == WorkStatus.SUCCESS || status == WorkStatus.FLUSHED)
                    .as(status.toString())
                    .isTrue();
        };
        Thread writer = Thread.ofPlatform().start(() -> {
            long next = 0;
            try {
                while (next < most) {
                    if (channel.tryWrite(source.block(0), remote, 0, handler, next)
                            .isAccepted()) {
                        next++;
                        taken.set(next);
                    } else {
                        channel.checkOpen();
                        channel.poll();
                    }
                }
            } catch (ClosedException e) {
                taken.set(next);
            }
        });
        eventually(() -> taken.get() > 5_000);

        event.run();
        writer.join(TIMEOUT);
        pair.clientEnd.close();

        assertThat(writer.isAlive()).isFalse();
        assertThat(ended.get()).isEqualTo(taken.get());
        for (int i = 0; i < taken.get(); i++) {
            assertThat(ends[i]).isEqualTo((byte) 1);
        }
        assertThat(pair.client.handlerErrors()).isZero();
    }

    @Test
    void closingWakesEveryWaitingThread() {
        SessionOptions options =
                SessionOptions.defaults().withChannel(ChannelOptions.defaults().withReceives(1));
        ConnectedPair pair = ConnectedPair.of(options);
        BufferSlice slice = pair.client.allocate("source", 8).block(0);
        pair.clientChannel().blocking(TIMEOUT).send(slice);
        List<CompletableFuture<Throwable>> waiters = List.of(
                failureOf(() -> pair.clientChannel().blocking(TIMEOUT).send(slice)),
                failureOf(() -> pair.clientChannel().blocking(TIMEOUT).receive()),
                failureOf(() -> pair.clientEnd.peerBuffer("none", TIMEOUT)),
                failureOf(() -> pair.clientEnd.barrier(TIMEOUT)),
                failureOf(() -> pair.server.accept(TIMEOUT)));
        CompletableFuture<Message> receive = pair.clientChannel().async().receive();
        eventually(() -> pair.clientChannel().statistics().value(ChannelCounter.CREDIT_STALLS) > 0);

        long start = System.nanoTime();
        pair.close();

        for (CompletableFuture<Throwable> waiter : waiters) {
            assertThat(waiter.join()).isInstanceOf(ClosedException.class);
        }
        assertThatThrownBy(receive::join).hasCauseInstanceOf(ClosedException.class);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
    }

    private static CompletableFuture<Throwable> failureOf(Runnable call) {
        CompletableFuture<Throwable> failure = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            try {
                call.run();
                failure.complete(null);
            } catch (RuntimeException e) {
                failure.complete(e);
            }
        });
        return failure;
    }

    @Test
    void aHandlerMayCloseItsEndPointAndItsSession() {
        ConnectedPair pair = ConnectedPair.of(SessionOptions.defaults().withThreadMode(ThreadMode.SHARED_CQ));
        BufferSlice slice = pair.client.allocate("source", 8).block(0);
        pair.serverChannel().onMessage((on, message) -> {
            pair.serverEnd.closeLater();
            pair.server.closeLater();
        });

        pair.clientChannel().blocking(TIMEOUT).send(slice);

        eventually(() -> pair.serverEnd.state() == EndPointState.CLOSED && !pair.server.isOpen());
        pair.close();
    }

    @ParameterizedTest
    @EnumSource(ThreadMode.class)
    void closingInAHandlerIsRejectedAndTheMessageSaysWhatToDo(ThreadMode mode) {
        List<Throwable> thrown = new CopyOnWriteArrayList<>();
        try (ConnectedPair pair = ConnectedPair.of(SessionOptions.defaults().withThreadMode(mode))) {
            pair.serverChannel().onMessage((on, message) -> {
                thrown.add(catchThrowable(pair.serverEnd::close));
                thrown.add(catchThrowable(pair.server::close));
            });
            BufferSlice slice = pair.client.allocate("source", 8).block(0);

            pair.clientChannel().blocking(TIMEOUT).send(slice);

            eventually(() -> {
                pair.server.poll();
                return thrown.size() == 2;
            });
            assertThat(thrown)
                    .allSatisfy(failure -> assertThat(failure)
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessageContaining("in a handler")
                            .hasMessageContaining("closeLater()"));
            assertThat(pair.serverEnd.state()).isEqualTo(EndPointState.READY);
            assertThat(pair.server.isOpen()).isTrue();
        }
    }

    @Test
    void theWaitForAPeerThatDoesNotAnswerEndsAtTheDeadline() {
        SessionOptions patient = SessionOptions.defaults().withThreadMode(ThreadMode.CALLER);
        try (ConnectedPair pair = new ConnectedPair(patient, ConnectedPair.impatient(Deadlines::withClose))) {
            // The server never polls its data channel, and still answers.
            BufferSlice slice = pair.client.allocate("source", 8).block(0);
            pair.clientChannel().blocking(TIMEOUT).send(slice);
            long start = System.nanoTime();
            pair.clientEnd.close();
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(2));
        }
    }

    @Test
    void theListenerIsToldOfEachEndOnce() {
        List<String> told = new ArrayList<>();
        SessionListener listener = new SessionListener() {
            @Override
            public void onEndPoint(EndPoint endPoint) {
                say("begin");
            }

            @Override
            public void onEnd(EndPoint endPoint, RdmaException failure) {
                say("end " + failure);
            }

            private void say(String what) {
                synchronized (told) {
                    told.add(what);
                }
            }
        };
        try (ConnectedPair pair =
                new ConnectedPair(SessionOptions.defaults().withListener(listener), SessionOptions.defaults())) {
            pair.clientEnd.close();
            pair.serverEnd.close();
        }
        eventually(() -> {
            synchronized (told) {
                return told.size() == 2;
            }
        });
        assertThat(told).containsExactlyInAnyOrder("begin", "end null");
    }

    @Test
    void aClosedSessionRejectsEverything() {
        ConnectedPair pair = ConnectedPair.ofDefaults();
        BufferSlice slice = pair.client.allocate("source", 8).block(0);
        pair.close();

        ServerSession server = pair.server;
        assertThat(server.isOpen()).isFalse();
        assertThatThrownBy(() -> server.allocate("b", 1)).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> server.accept(TIMEOUT)).isInstanceOf(ClosedException.class);
        assertThat(pair.clientChannel().trySend(slice, CompletionHandler.NONE, 0))
                .isEqualTo(Admission.CLOSED);
        assertThatThrownBy(() -> pair.clientChannel().checkOpen())
                .isInstanceOf(ClosedException.class)
                .isNotInstanceOf(PeerDoneException.class);
        assertThatThrownBy(() -> pair.clientEnd.barrier(TIMEOUT)).isInstanceOf(ClosedException.class);
        server.close();
    }
}
