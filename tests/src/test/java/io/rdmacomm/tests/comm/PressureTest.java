package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.BlockingChannel;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.CompletionHandler;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.Session;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.LeakCheck;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Senders that are faster than their receivers: the receiver sets the pace, nothing grows, nothing is lost.
@ExtendWith(LeakCheck.class)
final class PressureTest {
    private static final long WORK_NANOS = 500_000;
    private static final int TRIES = 10;
    private static final long GROWTH = 8 << 20;
    private static final int OWN = 0;
    private static final int ANSWER = 1 << 30;

    static Stream<Arguments> modes() {
        return Line.modes();
    }

    /// A message that finds no receive fails the queue pair at once.
    private static SessionOptions options(Line line, WorkMode work, ThreadMode thread) {
        ChannelOptions channel = ChannelOptions.defaults();
        return line.options(work, thread)
                .withChannel(channel.withConnection(channel.connection()
                        .withRetries(channel.connection().retries().withReceiverNotReady(0, Duration.ofMillis(1)))));
    }

    @Tag("slow")
    @ParameterizedTest
    @MethodSource("modes")
    void theReceiverSetsThePaceInEveryMode(Line line, WorkMode work, ThreadMode thread) throws Exception {
        assertPace(options(line, work, thread), Amount.of(1_000, 100));
    }

    /// On both lines at the same time.
    @Test
    @Tag("slow")
    @Tag("long")
    @Timeout(900)
    void theReceiverSetsThePaceForAMinute() throws Exception {
        List<FutureTask<@Nullable Void>> lines = new ArrayList<>();
        for (Line line : Line.values()) {
            SessionOptions options = options(line, WorkMode.ADAPTIVE, ThreadMode.PER_QUEUE_PAIR);
            FutureTask<@Nullable Void> task = new FutureTask<>(() -> {
                assertPace(options, Amount.of(60_000, 1_000));
                return null;
            });
            Thread.ofPlatform().daemon().start(task);
            lines.add(task);
        }
        for (FutureTask<@Nullable Void> line : lines) {
            line.get();
        }
    }

    private static void assertPace(SessionOptions options, int millis) throws Exception {
        try (ConnectedPair pair = ConnectedPair.of(options)) {
            FutureTask<Integer> sender = new FutureTask<>(() -> sendUntilClosed(pair));
            Thread.ofPlatform().daemon().start(sender);
            Receiver receiver = new Receiver(pair.serverChannel());
            receiver.receiveFor(100);
            MemoryUse early = MemoryUse.now();
            // On a busy machine the sender may get no processor for a while.
            for (int tries = 0; tries == 0 || (receiver.isStarved() && tries < TRIES); tries++) {
                receiver.receiveFor(millis);
            }
            MemoryUse late = MemoryUse.now();

            assertThat(receiver.isStarved())
                    .as("the receiver had nothing to do for a tenth of the time")
                    .isFalse();
            assertThat(late.growthSince(early))
                    .as("growth from %s to %s", early, late)
                    .isLessThan(GROWTH);
            assertThat(pair.clientEnd.failure()).isNull();
            assertThat(pair.serverEnd.failure()).isNull();
            FutureTask<@Nullable Void> closing = new FutureTask<>(pair.clientEnd::close, null);
            Thread.ofVirtual().start(closing);
            receiver.receiveRest();
            assertThat(sender.get(20, TimeUnit.SECONDS)).isEqualTo(receiver.count());
            closing.get(20, TimeUnit.SECONDS);
        }
    }

    /// Sends as fast as it can.
    ///
    /// @return how many messages were sent
    private static int sendUntilClosed(ConnectedPair pair) {
        BufferSlice text = pair.client.allocate("text", 256).block(0);
        RdmaChannel channel = pair.clientChannel();
        BlockingChannel patient = channel.blocking(TIMEOUT);
        int sent = 0;
        try {
            while (true) {
                if (!channel.trySend(text, sent, CompletionHandler.NONE, 0).isAccepted()) {
                    patient.send(text, sent);
                }
                sent++;
            }
        } catch (ClosedException e) {
            return sent;
        }
    }

    /// Takes a fixed time for each message.
    private static final class Receiver {
        private final RdmaChannel channel;
        private int count;
        private long starved;
        private long nanos;

        Receiver(RdmaChannel channel) {
            this.channel = channel;
        }

        int count() {
            return count;
        }

        /// Whether it had nothing to do for more than a tenth of its last time.
        boolean isStarved() {
            return starved > nanos / 10;
        }

        void receiveFor(int millis) {
            starved = 0;
            long start = System.nanoTime();
            while (System.nanoTime() - start < TimeUnit.MILLISECONDS.toNanos(millis)) {
                take(awaitMessage());
                LockSupport.parkNanos(WORK_NANOS);
            }
            nanos = System.nanoTime() - start;
        }

        private Message awaitMessage() {
            channel.poll();
            Message stored = channel.tryReceive();
            if (stored != null) {
                return stored;
            }
            long start = System.nanoTime();
            Message message = channel.blocking(TIMEOUT).receive();
            starved += System.nanoTime() - start;
            return message;
        }

        private void take(Message message) {
            try (message) {
                assertThat(message.tag()).isEqualTo(count++);
            }
        }

        void receiveRest() {
            try {
                while (true) {
                    take(channel.blocking(TIMEOUT).receive());
                }
            } catch (ClosedException e) {
                // That was the last one.
            }
        }
    }

    /// Each side sends messages of its own, and from its handler an answer to each message of the peer.
    @Tag("slow")
    @ParameterizedTest
    @MethodSource("modes")
    void bothSidesFloodEachOtherAlsoFromHandlers(Line line, WorkMode work, ThreadMode thread) throws Exception {
        try (ConnectedPair pair = ConnectedPair.of(options(line, work, thread))) {
            Flood here = new Flood(pair.server, pair.serverEnd);
            Flood there = new Flood(pair.client, pair.clientEnd);
            FutureTask<@Nullable Void> one = here.start();
            FutureTask<@Nullable Void> two = there.start();
            Deadline.await("everything has arrived", () -> {
                pair.server.poll();
                pair.client.poll();
                return one.isDone() && two.isDone() && here.isComplete() && there.isComplete();
            });
            one.get(0, TimeUnit.SECONDS);
            two.get(0, TimeUnit.SECONDS);
            assertThat(here.disorder()).isZero();
            assertThat(there.disorder()).isZero();
            assertThat(pair.serverEnd.failure()).isNull();
        }
    }

    /// One side of a flood.
    private static final class Flood {
        private static final int MESSAGES = Amount.of(10_000, 500);
        private static final int COUNTS_OF_ANSWERS = 1;
        private static final int DISORDER = 2;

        private final RdmaChannel channel;
        private final BufferSlice text;
        private final AtomicIntegerArray counts = new AtomicIntegerArray(3);

        Flood(Session session, EndPoint end) {
            this.channel = end.channel(0);
            this.text = session.allocate("text", 256).block(0);
            channel.onMessage((on, message) -> arrived(message.tag()));
        }

        FutureTask<@Nullable Void> start() {
            FutureTask<@Nullable Void> task = new FutureTask<>(this::send, null);
            Thread.ofVirtual().start(task);
            return task;
        }

        private void send() {
            for (int i = 0; i < MESSAGES; i++) {
                channel.blocking(TIMEOUT).send(text, OWN | i);
            }
        }

        /// Two streams are mixed: the peer's own messages, and its answers.
        private void arrived(int tag) {
            boolean answer = (tag & ANSWER) != 0;
            int expected = counts.getAndIncrement(answer ? COUNTS_OF_ANSWERS : OWN);
            if ((tag & ~ANSWER) != expected) {
                counts.incrementAndGet(DISORDER);
            }
            if (!answer
                    && !channel.trySend(text, ANSWER | tag, CompletionHandler.NONE, 0)
                            .isAccepted()) {
                var _ = channel.async().send(text, ANSWER | tag);
            }
        }

        boolean isComplete() {
            return counts.get(OWN) == MESSAGES && counts.get(COUNTS_OF_ANSWERS) == MESSAGES;
        }

        int disorder() {
            return counts.get(DISORDER);
        }
    }
}
