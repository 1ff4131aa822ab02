package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.progress.CompletionGroup;
import io.rdmacomm.comm.progress.CompletionLoop;
import io.rdmacomm.comm.progress.CompletionQueues;
import io.rdmacomm.comm.progress.EventLoop;
import io.rdmacomm.comm.progress.GroupMember;
import io.rdmacomm.comm.progress.IdleStrategy;
import io.rdmacomm.comm.progress.Waiter;
import io.rdmacomm.comm.progress.WorkId;
import io.rdmacomm.tests.fixture.Activity;
import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.EndQueue;
import io.rdmacomm.tests.fixture.Fabric;
import io.rdmacomm.tests.fixture.RandomPause;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Tally;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The threads of the work modes that sleep, woken by one message at a time. The peer sends each at a
/// random moment, so that it arrives before, while and after the thread arms the queue, drains it and
/// falls asleep. The thread sleeps until an event wakes it and never looks otherwise, so a missed
/// wake-up is a message without an answer.
@Tag("slow")
class WakeUpTest extends ContractCase {
    private static final Duration FOR_GOOD = Duration.ofDays(1);
    private static final long TIMEOUT_MILLIS = TimeUnit.HOURS.toMillis(1);

    @Test
    @Timeout(value = 1, unit = TimeUnit.HOURS)
    void completionChannelModeMissesNoWakeUp() {
        long seed = System.nanoTime();
        try (CompletionGroup group =
                new CompletionGroup(new CompletionQueues(here().context()), "woken", 0, 64, 1, false)) {
            WatchedIdleStrategy idle = new WatchedIdleStrategy(group.newIdleStrategy(), seed);
            try (Answerer answerer = new Answerer(group, seed);
                    CompletionLoop _ = new CompletionLoop(group, idle).start()) {
                converse(answerer, seed);
            }
            System.out.println(fabric + ": " + idle);
            assertThat(idle.sleeps).as("number of sleeps").isPositive();
        }
    }

    @Test
    @Timeout(value = 1, unit = TimeUnit.HOURS)
    void epollModeMissesNoWakeUp() {
        long seed = System.nanoTime();
        try (EventLoop loop = new EventLoop(here().context(), "woken", FOR_GOOD).start();
                CompletionGroup group =
                        new CompletionGroup(new CompletionQueues(here().context()), "woken", 64, loop)) {
            loop.add(group);
            try (Answerer answerer = new Answerer(group, seed)) {
                converse(answerer, seed);
            }
            loop.remove(group);
        }
    }

    /// Two threads wait for messages of their own. One of them sleeps for both, and may take the other's messages and
    /// events.
    @Test
    @Timeout(value = 1, unit = TimeUnit.HOURS)
    void callersMissNoWakeUp() throws Exception {
        long seed = System.nanoTime();
        int count = count(seed) / 4;
        try (CompletionGroup group =
                        new CompletionGroup(new CompletionQueues(here().context()), "woken", 0, 128, 2, true);
                Answerer first = new Answerer(group, seed);
                Answerer second = new Answerer(group, seed + 1)) {
            EndQueue firstPeer = first.connect();
            EndQueue secondPeer = second.connect();
            FutureTask<Void> firstCaller = caller(group, first, count);
            FutureTask<Void> secondCaller = caller(group, second, count);
            try (Activity one = firstPeer.converse(count, seed + 2);
                    Activity other = secondPeer.converse(count, seed + 3)) {
                check(one, count);
                check(other, count);
            }
            firstCaller.get(1, TimeUnit.MINUTES);
            secondCaller.get(1, TimeUnit.MINUTES);
            assertThat(first.failure).isNull();
            assertThat(second.failure).isNull();
        }
    }

    /// Starts a thread that waits for one answer after the other.
    private static FutureTask<Void> caller(CompletionGroup group, Answerer answerer, int count) {
        FutureTask<Void> task = new FutureTask<>(() -> awaitAnswers(group, answerer, count), null);
        Thread.ofPlatform().daemon().name("caller").start(task);
        return task;
    }

    private static void awaitAnswers(CompletionGroup group, Answerer answerer, int count) {
        Waiter waiter = new Waiter(group, FOR_GOOD.toNanos());
        answerer.waiter = waiter;
        try {
            for (int i = 1; i <= count; i++) {
                long wanted = i;
                assertThat(waiter.await(() -> answerer.answers.get() >= wanted, System.nanoTime() + FOR_GOOD.toNanos()))
                        .isTrue();
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /// How many messages there are: a million between processes, fewer elsewhere, and far fewer in a run that divides
    /// them.
    private int count(long seed) {
        int full = fabric.place() == Fabric.Place.OTHER_PROCESS ? 1_000_000 : 100_000;
        int count = Amount.onLine(Amount.of(Amount.of(full, 500), 500), 100);
        System.out.println(fabric + ": " + count + " wake-ups, seed " + seed);
        return count;
    }

    /// Has the peer send messages and checks that all were answered.
    private void converse(Answerer answerer, long seed) {
        int count = count(seed);
        try (Activity conversation = answerer.connect().converse(count, seed + 1)) {
            check(conversation, count);
        }
        assertThat(answerer.failure).isNull();
    }

    private static void check(Activity conversation, int count) {
        Tally tally = conversation.await(TIMEOUT_MILLIS);
        assertThat(tally.failed()).isEmpty();
        assertThat(tally.good()).isEqualTo(count);
    }

    /// Answers each message, on the thread under test.
    private final class Answerer implements GroupMember, AutoCloseable {
        private static final int RECEIVES = 4;
        private static final int SIGNAL_INTERVAL = 16;

        private final CompletionGroup group;
        private final QueuePair queuePair;
        private final RandomPause pause;
        private final ReceiveBatch receive;
        private final SendBatch answer;
        private final SendBatch signaledAnswer;
        private final long base;
        private final AtomicLong answers = new AtomicLong();
        private volatile @Nullable Waiter waiter;
        private volatile @Nullable String failure;

        Answerer(CompletionGroup group, long seed) {
            this.group = group;
            this.pause = new RandomPause(new Random(seed));
            this.queuePair = here().domain().createQueuePair(here().options(group.queue(), Spec.usual()));
            EndMemory memory = here().allocate(8, everything());
            this.base = group.join(this);
            this.receive = ReceiveBatch.create(here().arena(), 1, 1)
                    .receive(WorkId.receive(base, 0))
                    .with(memory.address(), 8, memory.localKey());
            this.answer = SendBatch.create(here().arena(), 1, 1).send(WorkId.send(base, 0));
            this.signaledAnswer = SendBatch.create(here().arena(), 1, 1)
                    .send(WorkId.send(base, 0))
                    .signaled();
        }

        /// Connects it to a queue pair of the peer.
        EndQueue connect() {
            EndQueue peer = there().queue(Spec.usual());
            WakeUpTest.this.connect(queuePair, peer);
            for (int i = 0; i < RECEIVES; i++) {
                queuePair.post(receive);
            }
            return peer;
        }

        @Override
        public void received(Completions completions, int index, int number) {
            if (!completions.isSuccess(index)) {
                failure = "a receive failed: " + completions.status(index);
                return;
            }
            queuePair.post(receive);
            pause.take();
            long answered = answers.incrementAndGet();
            Waiter waiting = waiter;
            if (waiting != null) {
                waiting.wake();
            }
            // Others complete silently, so that hardly any completion but that of a message raises an event.
            queuePair.post(answered % SIGNAL_INTERVAL == 0 ? signaledAnswer : answer);
            pause.take();
        }

        @Override
        public void completed(Completions completions, int index, long workId) {
            if (!completions.isSuccess(index)) {
                failure = "an answer failed: " + completions.status(index);
            }
        }

        @Override
        public void failed(RdmaException why) {
            failure = why.toString();
        }

        @Override
        public void close() {
            group.runExclusively(() -> group.leave(base));
            queuePair.close();
        }
    }

    /// Pauses before and after each step of a strategy, never lets it wake up by itself, and counts how messages were
    /// found.
    private static final class WatchedIdleStrategy implements IdleStrategy {
        private static final int STEPS_BEFORE_DRAIN = 1;

        private final IdleStrategy strategy;
        private final RandomPause pause;
        private int steps;
        private long polls;
        private long drains;
        private volatile long sleeps;

        WatchedIdleStrategy(IdleStrategy strategy, long seed) {
            this.strategy = strategy;
            this.pause = new RandomPause(new Random(seed - 1));
        }

        @Override
        public void idle(int polled, long maxNanos) {
            if (polled > 0) {
                count();
                steps = 0;
            } else {
                steps++;
            }
            pause.take();
            strategy.idle(polled, FOR_GOOD.toNanos());
            pause.take();
        }

        @SuppressWarnings("NonAtomicVolatileUpdate") // only one thread counts
        private void count() {
            if (steps < STEPS_BEFORE_DRAIN) {
                polls++;
            } else if (steps == STEPS_BEFORE_DRAIN) {
                drains++;
            } else {
                sleeps++;
            }
        }

        @Override
        public String toString() {
            return "found before arming " + polls + ", after arming " + drains + ", after a sleep " + sleeps;
        }
    }
}
