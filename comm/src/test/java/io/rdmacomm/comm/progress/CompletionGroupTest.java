package io.rdmacomm.comm.progress;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.ReceiveBatch;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class CompletionGroupTest {
    private static final int ENTRIES = 16;
    private static final int TIMEOUT_SECONDS = 20;

    /// Who needs room for a new channel has the queue resized by the thread that polls, and waits for it. That
    /// thread may just be closing a channel, which gives room back: it must not wait in turn.
    @Test
    void roomIsGivenBackWhileAnotherThreadMakesRoom() throws Exception {
        try (Context context = Rdma.open("soft0")) {
            CompletionGroup group = new CompletionGroup(
                    new CompletionQueues(context), "a group", CompletionGroup.SPIN_FOREVER, ENTRIES, 2, true);
            group.reserve(ENTRIES);
            int before = group.queue().capacity();
            FutureTask<Integer> growing = new FutureTask<>(() -> {
                group.reserve(before);
                return group.queue().capacity();
            });
            Thread grower = Thread.ofPlatform().daemon().unstarted(growing);
            FutureTask<Boolean> closing = new FutureTask<>(() -> {
                grower.start();
                boolean waits = awaitInside(grower, "runExclusively");
                group.unreserve(ENTRIES);
                return waits;
            });
            group.submit(closing);
            Thread.ofPlatform().daemon().start(() -> {
                while (!growing.isDone()) {
                    group.poll();
                }
            });
            assertThat(closing.get(TIMEOUT_SECONDS, TimeUnit.SECONDS))
                    .as("the thread that makes room waits for the one that polls")
                    .isTrue();
            assertThat(growing.get(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isGreaterThanOrEqualTo(before + ENTRIES);
            group.close();
        }
    }

    /// Who waits for something that has no event, such as credits, takes ever less of the processor. It is no
    /// reason to spin again either.
    @Test
    void looksBecomeRareWhileNothingComes() throws Exception {
        try (Context context = Rdma.open("soft0")) {
            CompletionGroup group = new CompletionGroup(new CompletionQueues(context), "a group", 0, ENTRIES, 2, false);
            AtomicInteger looks = new AtomicInteger();
            CompletableFuture<Integer> enough = new CompletableFuture<>();
            long begin = System.nanoTime();
            group.submitCheck(new Runnable() {
                @Override
                public void run() {
                    looks.incrementAndGet();
                    if (System.nanoTime() - begin > 500_000_000) {
                        enough.complete(looks.get());
                    } else {
                        group.submitCheck(this);
                    }
                }
            });
            try (CompletionLoop _ = new CompletionLoop(group, group.newIdleStrategy()).start()) {
                // Every 100 us those were 5,000, and many more with the spinning in between.
                assertThat(enough.get(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isLessThan(600);
            }
            group.close();
        }
    }

    /// Over TCP each poll that finds nothing may read a socket in vain. One more must follow the arming.
    @Test
    void aThreadThatDoesNotSpinPollsTwiceBeforeItSleeps() {
        try (Context context = Rdma.open("soft0")) {
            CompletionGroup group = new CompletionGroup(new CompletionQueues(context), "a group", 0, ENTRIES, 2, true);
            AtomicInteger sleeps = new AtomicInteger();
            IdleStrategy idle = group.newIdleStrategy(() -> sleeps.incrementAndGet() > 0);
            idle.idle(group.poll(), 1);
            assertThat(sleeps).hasValue(0);
            idle.idle(group.poll(), 1);
            assertThat(sleeps).hasValue(1);
            group.close();
        }
    }

    /// An endpoint that learns of the end of its peer drains a group that its session may just have closed.
    @Test
    void nothingIsTakenFromAClosedGroup() {
        CompletionGroup group;
        try (Context context = Rdma.open("soft0")) {
            group = new CompletionGroup(new CompletionQueues(context), "a group", 0, ENTRIES, 2, false);
            group.close();
        }

        group.runExclusively(group::drain);
        group.catchUp();

        assertThat(group.isBroken()).isTrue();
    }

    /// A handler of another group may look for what has completed here, but not wait for the thread that polls
    /// here: that thread may be waiting for the handler.
    @Test
    void catchingUpGivesUpWhileAnotherThreadPolls() throws Exception {
        try (Context context = Rdma.open("soft0")) {
            CompletionGroup group = new CompletionGroup(new CompletionQueues(context), "a group", 0, ENTRIES, 2, false);
            FutureTask<Boolean> catchingUp = new FutureTask<>(group::catchUp, true);
            FutureTask<Boolean> polling = new FutureTask<>(() -> {
                Thread.ofPlatform().daemon().start(catchingUp);
                return catchingUp.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            });
            group.submit(polling);
            Thread.ofPlatform().daemon().start(group::poll);

            assertThat(polling.get(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
            group.close();
        }
    }

    /// The thread that polls may leave completions that raise no event any more.
    @Test
    void noThreadSleepsForLongWhileAnotherOnePolls() throws Exception {
        try (Context context = Rdma.open("soft0")) {
            CompletionGroup group = new CompletionGroup(new CompletionQueues(context), "a group", 0, ENTRIES, 2, true);
            FutureTask<Integer> sleeping =
                    new FutureTask<>(() -> group.pollOrSleep(TimeUnit.SECONDS.toNanos(2L * TIMEOUT_SECONDS)));
            FutureTask<Integer> polling = new FutureTask<>(() -> {
                Thread.ofPlatform().daemon().start(sleeping);
                return sleeping.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            });
            group.submit(polling);
            Thread.ofPlatform().daemon().start(group::poll);

            assertThat(polling.get(2L * TIMEOUT_SECONDS, TimeUnit.SECONDS)).isZero();
            group.close();
        }
    }

    /// A member that fails in one completion of a batch, and another one.
    @Test
    void aCompletionThatCannotBeHandledCostsItsMemberOnly() {
        try (Context context = Rdma.open("soft0");
                ProtectionDomain domain = context.allocateProtectionDomain();
                Arena arena = Arena.ofConfined()) {
            CompletionGroup group = new CompletionGroup(
                    new CompletionQueues(context), "a group", CompletionGroup.SPIN_FOREVER, ENTRIES, 2, true);
            Member bad = new Member(true);
            Member good = new Member(false);
            long first = group.join(bad);
            long second = group.join(good);
            QueuePair queuePair = domain.createQueuePair(
                    QueuePairOptions.reliable(group.queue()).withSizes(new QueueSizes(8, 8, 1, 1, 0)));
            queuePair.modify(new QueuePairAttributes()
                    .state(QueuePairState.INIT)
                    .port(1)
                    .partitionKeyIndex(0)
                    .accessFlags(Set.of()));
            ReceiveBatch receives = ReceiveBatch.create(arena, 4, 1);
            receives.receive(WorkId.receive(first, 1));
            receives.receive(WorkId.receive(second, 2));
            receives.receive(WorkId.receive(second, 3));
            assertThat(queuePair.post(receives)).isEqualTo(3);
            // All are flushed, and polled together.
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
            while (good.received < 2) {
                group.poll();
            }

            assertThat(bad.failures).isEqualTo(1);
            assertThat(good.failures).isZero();
            queuePair.close();
            group.close();
        }
    }

    private static final class Member implements GroupMember {
        private final boolean bad;
        private int received;
        private int failures;

        Member(boolean bad) {
            this.bad = bad;
        }

        @Override
        public void completed(Completions completions, int index, long workId) {}

        @Override
        public void received(Completions completions, int index, int receive) {
            if (bad) {
                throw new OutOfMemoryError("on purpose");
            }
            received++;
        }

        @Override
        public void failed(RdmaException why) {
            assertThat(why)
                    .hasMessageContaining("could not handle a completion")
                    .hasRootCauseMessage("on purpose");
            failures++;
        }
    }

    private static boolean awaitInside(Thread thread, String method) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS / 2);
        while (System.nanoTime() < deadline) {
            if (Arrays.stream(thread.getStackTrace())
                    .anyMatch(frame -> frame.getMethodName().equals(method))) {
                return true;
            }
            Thread.onSpinWait();
        }
        return false;
    }
}
