package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.tests.fixture.Activity;
import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.Deviation;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.EndQueue;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.RdmaInterruptedException;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.UnsupportedVerbException;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Armed completion queues and their channels.
class CompletionEventTest extends ContractCase {
    /// Long enough to prove that no event arrives.
    private static final long ABSENT_MILLIS = 50;

    private static final long SOON_MILLIS = 10_000;

    @Test
    void anUnarmedQueueRaisesNoEvent() {
        Pair pair = connected();
        pair.here().receive(1);
        pair.there().post(Work.send(2));
        pair.there().one();
        assertThat(pair.here().awaitEvent(ABSENT_MILLIS)).isFalse();
        good(pair.here().one(), 1, CompletionOpcode.RECEIVE);
    }

    @Test
    void anArmedQueueRaisesOneEvent() {
        for (Way way : bothWays(connected())) {
            way.target().receive(1);
            way.target().receive(2);
            way.target().arm();
            way.source().post(Work.send(3), Work.send(4));
            way.source().drain(2);
            assertThat(way.target().awaitEvent(SOON_MILLIS)).isTrue();
            way.target().drain(2);
            assertThat(way.target().awaitEvent(ABSENT_MILLIS)).as("one shot").isFalse();
            way.target().receive(5);
            way.source().post(Work.send(6));
            way.source().one();
            assertThat(way.target().awaitEvent(ABSENT_MILLIS))
                    .as("not armed again")
                    .isFalse();
            way.target().one();
        }
    }

    @Test
    void earlierCompletionsRaiseNoEvent() {
        Pair pair = connected();
        pair.here().receive(1);
        pair.here().receive(2);
        pair.there().post(Work.send(3));
        pair.there().one();
        pair.here().arm();
        assertThat(pair.here().awaitEvent(ABSENT_MILLIS)).isFalse();
        good(pair.here().one(), 1, CompletionOpcode.RECEIVE);
        pair.there().post(Work.send(4));
        assertThat(pair.here().awaitEvent(SOON_MILLIS)).isTrue();
        good(pair.here().one(), 2, CompletionOpcode.RECEIVE);
    }

    @Test
    void awaitTakesWhatIsThereAndWaitsForWhatIsNot() throws Exception {
        Pair pair = connected();
        CompletionQueue queue = pair.here().completionQueue();
        try (Arena arena = Arena.ofShared()) {
            Completions completions = Completions.create(arena, 2);
            for (int i = 1; i <= 5; i++) {
                pair.here().receive(i);
            }
            assertThat(queue.await(completions, Duration.ZERO)).isZero();
            assertThat(queue.await(completions, Duration.ofMillis(ABSENT_MILLIS)))
                    .isZero();
            for (int i = 1; i <= 3; i++) {
                pair.there().post(Work.send(i));
                pair.there().one();
            }
            takes(queue, completions, 1, 2, 3);
            FutureTask<Void> later = new FutureTask<>(() -> {
                for (int i = 4; i <= 5; i++) {
                    pair.there().post(Work.send(i));
                    pair.there().one();
                }
                return null;
            });
            Thread.ofVirtual().start(later);
            takes(queue, completions, 4, 5);
            later.get();
            assertThat(queue.unacknowledged()).isZero();
        }
    }

    private static void takes(CompletionQueue queue, Completions completions, long... workIds) throws Exception {
        List<Long> taken = new ArrayList<>();
        while (taken.size() < workIds.length) {
            int count = queue.await(completions, Duration.ofMillis(SOON_MILLIS));
            assertThat(count).isPositive();
            for (int i = 0; i < count; i++) {
                taken.add(completions.workId(i));
            }
        }
        assertThat(taken).containsExactly(LongStream.of(workIds).boxed().toArray(Long[]::new));
    }

    @Test
    void aQueueWithoutAChannelOfItsOwnCannotAwait() throws Exception {
        LocalQueue queue = connected().here();
        Context context = here().context();
        try (Arena arena = Arena.ofShared();
                CompletionQueue polled = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(8));
                CompletionQueue other = context.createCompletionQueue(
                        CompletionQueueOptions.ofCapacity(8).withChannel(queue.channel()))) {
            Completions completions = Completions.create(arena, 1);
            assertThat(other.channel()).isNotNull();
            assertThatThrownBy(() -> polled.await(completions, Duration.ofSeconds(1)))
                    .isInstanceOf(VerbException.class)
                    .hasMessageContainingAll("EINVAL", "without a channel");
            assertThatThrownBy(() -> queue.completionQueue().await(completions, Duration.ofSeconds(1)))
                    .isInstanceOf(VerbException.class)
                    .hasMessageContainingAll("EINVAL", "other queues use");
        }
    }

    @Test
    void closingTheQueueEndsAwait() throws Exception {
        try (Arena arena = Arena.ofShared();
                CompletionChannel channel = here().context().createCompletionChannel()) {
            CompletionQueue queue = here().context()
                    .createCompletionQueue(CompletionQueueOptions.ofCapacity(8).withChannel(channel));
            Completions completions = Completions.create(arena, 1);
            FutureTask<Integer> waiting = new FutureTask<>(() -> queue.await(completions, Duration.ofMinutes(10)));
            String name = "awaits";
            Thread.ofPlatform().daemon().name(name).start(waiting);
            Deadline.await("the waiter sleeps", () -> sleeps(name) > 0);
            queue.close();
            assertThatThrownBy(() -> waiting.get(SOON_MILLIS, TimeUnit.MILLISECONDS))
                    .rootCause()
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("is closed");
        }
    }

    @Test
    void aModeratedQueueRaisesItsEventWhenThePeriodIsOver() {
        Pair pair = connected();
        CompletionQueue queue = pair.here().completionQueue();
        if (!can(Capability.COMPLETION_MODERATION)) {
            assertThatThrownBy(() -> queue.moderate(16, Duration.ofMillis(1)))
                    .isInstanceOf(UnsupportedVerbException.class)
                    .hasMessageContainingAll("ibv_modify_cq", "COMPLETION_MODERATION");
            return;
        }
        queue.moderate(16, Duration.ofMillis(1));
        for (int i = 0; i < 3; i++) {
            pair.here().receive(i);
            pair.here().arm();
            pair.there().post(Work.send(i));
            pair.there().one();
            assertThat(pair.here().awaitEvent(SOON_MILLIS))
                    .as("fewer than 16 completions")
                    .isTrue();
            good(pair.here().one(), i, CompletionOpcode.RECEIVE);
        }
        assertThatThrownBy(() -> queue.moderate(16, Duration.ZERO)).isInstanceOf(VerbException.class);
        queue.moderate(0, Duration.ZERO);
    }

    @Test
    void completionsOfSendsRaiseAnEvent() {
        Pair pair = connected();
        EndMemory target = there().allocate(8, everything());
        EndMemory source = here().allocate(8, everything());
        pair.here().arm();
        pair.here().post(Work.write(1, target.remote(), source.piece(0, 8)));
        assertThat(pair.here().awaitEvent(SOON_MILLIS)).isTrue();
        good(pair.here().one(), 1, CompletionOpcode.WRITE);
    }

    @Test
    void solicitedOnlyWaitsForASolicitedMessage() {
        if (!can(Capability.SOLICITED_EVENTS)) {
            return;
        }
        for (Way way : bothWays(connected())) {
            EndMemory target = way.to().allocate(8, everything());
            for (int i = 0; i < 4; i++) {
                way.target().receive(i);
            }
            way.target().armSolicited();
            way.source().post(Work.send(1), Work.sendImmediate(2, 2));
            way.source().drain(2);
            assertThat(way.target().awaitEvent(ABSENT_MILLIS))
                    .as("not solicited")
                    .isFalse();
            way.source().post(Work.send(3).solicited());
            assertThat(way.target().awaitEvent(SOON_MILLIS)).isTrue();
            way.source().one();
            way.target().drain(3);
            way.target().armSolicited();
            way.source()
                    .post(Work.writeImmediate(4, target.remote().slice(0, 0), 1).solicited());
            assertThat(way.target().awaitEvent(SOON_MILLIS)).isTrue();
            way.source().one();
            way.target().one();
        }
    }

    @Test
    void aFailureCountsAsSolicited() {
        Pair pair = connected();
        pair.here().receive(1);
        pair.here().armSolicited();
        pair.here().modify(QueuePairState.ERROR);
        assertThat(pair.here().awaitEvent(SOON_MILLIS)).isTrue();
        failed(pair.here().one(), 1, WorkStatus.FLUSHED);
    }

    @Test
    void armingForAllAfterSolicitedOnlyArmsForAll() {
        Pair pair = connected();
        pair.here().receive(1);
        pair.here().armSolicited();
        pair.here().arm();
        pair.there().post(Work.send(2));
        assertThat(pair.here().awaitEvent(SOON_MILLIS)).isTrue();
        pair.there().one();
        pair.here().one();
    }

    @Test
    void armingForSolicitedOnlyAfterAllDoesNotDisarm() {
        Pair pair = connected();
        pair.here().receive(1);
        pair.here().arm();
        pair.here().armSolicited();
        pair.there().post(Work.send(2));
        assertThat(pair.here().awaitEvent(SOON_MILLIS)).isTrue();
        pair.there().one();
        pair.here().one();
    }

    @Test
    void oneChannelServesManyQueues() throws Exception {
        CompletionChannel channel = here().context().createCompletionChannel();
        Set<CompletionQueue> queues = new HashSet<>();
        int count = 8;
        EndQueue[] peers = new EndQueue[count];
        for (int i = 0; i < count; i++) {
            CompletionQueue queue = here().context()
                    .createCompletionQueue(CompletionQueueOptions.ofCapacity(16).withChannel(channel));
            queues.add(queue);
            QueuePair pair = here().domain().createQueuePair(here().options(queue, Spec.usual()));
            peers[i] = there().queue(Spec.usual());
            pair.connect(peers[i].info());
            peers[i].connect(pair.info(), patient());
            pair.post(ReceiveBatch.create(here().arena(), 1, 1).receive(i));
            queue.arm();
        }
        for (var peer : peers) {
            peer.post(Work.send(1));
        }
        Set<CompletionQueue> announced = new HashSet<>();
        Completions room = Completions.create(here().arena(), 4);
        for (int i = 0; i < count; i++) {
            CompletionQueue queue = channel.awaitEvent(Duration.ofMillis(SOON_MILLIS));
            assertThat(queue).isNotNull();
            announced.add(queue);
            queue.acknowledge(1);
            assertThat(queue.poll(room)).isEqualTo(1);
        }
        assertThat(announced).isEqualTo(queues);
        assertThat(channel.awaitEvent(Duration.ZERO)).isNull();
    }

    @Test
    void eventsAreAcknowledgedOnceEachOrByClose() throws Exception {
        Pair pair = connected();
        CompletionQueue queue = pair.here().completionQueue();
        pair.here().receive(1);
        queue.arm();
        pair.there().post(Work.send(2));
        CompletionQueue from = pair.here().channel().awaitEvent(Duration.ofMillis(SOON_MILLIS));
        assertThat(from).isSameAs(queue);
        assertThat(queue.unacknowledged()).isEqualTo(1);
        assertThatThrownBy(() -> queue.acknowledge(2)).isInstanceOf(IllegalArgumentException.class);
        pair.there().one();
        pair.here().one();
        // Not acknowledged: closing must not hang.
        pair.here().close();
    }

    @Test
    void awaitingAnEventEndsWithItsTimeout() {
        LocalQueue queue = here().queue(Spec.usual());
        long start = System.nanoTime();
        assertThat(queue.awaitEvent(100)).isFalse();
        assertThat(System.nanoTime() - start).isBetween(90_000_000L, 5_000_000_000L);
        assertThat(queue.awaitEvent(0)).isFalse();
    }

    /// The kernel counts how often a thread fell asleep: an idle program uses hardly any CPU time.
    @Tag("slow")
    @Test
    void aWaitingThreadSleepsOnAndOn() throws Exception {
        LocalQueue other = here().queue(Spec.usual());
        CompletionChannel channel = here().context().createCompletionChannel();
        String name = "idle waiter";
        Thread waiter = Thread.ofPlatform().daemon().name(name).start(() -> {
            assertThatIllegalStateException().isThrownBy(() -> channel.awaitEvent(Duration.ofMinutes(10)));
        });
        Deadline.await("the waiter has a thread", () -> sleeps(name) > 0);
        other.awaitEvent(200);
        long before = sleeps(name);
        other.awaitEvent(1000);
        assertThat(sleeps(name) - before).as("sleeps in a second").isLessThan(10);
        channel.close();
        waiter.join(SOON_MILLIS);
    }

    /// How often the thread with this name has fallen asleep; 0 if there is none.
    private static long sleeps(String name) {
        String key = "voluntary_ctxt_switches:";
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path thread : threads) {
                List<String> status = Files.readAllLines(thread.resolve("status"));
                if (status.getFirst().endsWith("\t" + name)) {
                    return status.stream()
                            .filter(line -> line.startsWith(key))
                            .mapToLong(line ->
                                    Long.parseLong(line.substring(key.length()).strip()))
                            .sum();
                }
            }
        } catch (IOException e) {
            // A thread has just ended, so look again.
            return 0;
        }
        return 0;
    }

    @Test
    void aWakeUpEndsTheCurrentOrTheNextWait() throws Exception {
        CompletionChannel channel = here().context().createCompletionChannel();
        for (boolean virtual : new boolean[] {false, true}) {
            FutureTask<CompletionQueue> waiting = new FutureTask<>(() -> channel.awaitEvent(Duration.ofMinutes(10)));
            (virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon()).start(waiting);
            // Whether the wake-up comes before or during the wait, the wait ends.
            channel.wakeUp();
            assertThat(waiting.get(SOON_MILLIS, TimeUnit.MILLISECONDS)).isNull();
        }
        channel.wakeUp();
        channel.wakeUp();
        assertThat(channel.awaitEvent(Duration.ofMinutes(10)))
                .as("the next wait")
                .isNull();
        long start = System.nanoTime();
        assertThat(channel.awaitEvent(Duration.ofMillis(100)))
                .as("and only that one")
                .isNull();
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(90_000_000L);
        channel.close();
        channel.wakeUp();
    }

    /// It may wait for what arrives in another way than a thread that polls.
    @Test
    void aThreadThatSleepsKeepsNobodyFromPolling() throws Exception {
        Pair pair = connected();
        CompletionChannel channel = pair.here().channel();
        exchange(pair, 1);
        FutureTask<CompletionQueue> sleeping = sleeping(channel);
        for (int id = 2; id < 20; id++) {
            pair.here().receive(id);
            assertThat(pair.here().completionQueue().poll(Completions.create(here().arena(), 1)))
                    .isZero();
            pair.there().post(Work.send(id));
            good(pair.there().one(), id, CompletionOpcode.SEND);
            good(pair.here().one(), id, CompletionOpcode.RECEIVE);
        }
        assertThat(sleeping.isDone()).as("the queue was not armed").isFalse();
        pair.here().receive(20);
        pair.here().arm();
        pair.there().post(Work.send(20));
        assertThat(sleeping.get(SOON_MILLIS, TimeUnit.MILLISECONDS))
                .isEqualTo(pair.here().completionQueue());
        pair.here().completionQueue().acknowledge(1);
        pair.there().one();
        pair.here().one();
    }

    @Test
    void aThreadThatSleepsWakesUpForEachMessage() throws Exception {
        Pair pair = connected();
        CompletionQueue queue = pair.here().completionQueue();
        Completions room = Completions.create(here().arena(), 4);
        for (int id = 1; id <= 50; id++) {
            pair.here().receive(id);
            queue.arm();
            assertThat(queue.poll(room)).isZero();
            FutureTask<CompletionQueue> sleeping = sleeping(pair.here().channel());
            pair.there().post(Work.send(id));
            good(pair.there().one(), id, CompletionOpcode.SEND);
            assertThat(sleeping.get(SOON_MILLIS, TimeUnit.MILLISECONDS)).isEqualTo(queue);
            queue.acknowledge(1);
            good(pair.here().one(), id, CompletionOpcode.RECEIVE);
        }
    }

    @Test
    void aWaitForAConnectedQueueEndsWithAWakeUpAnInterruptAndItsChannel() throws Exception {
        Pair pair = connected();
        CompletionChannel channel = pair.here().channel();
        exchange(pair, 1);
        FutureTask<CompletionQueue> woken = sleeping(channel);
        channel.wakeUp();
        assertThat(woken.get(SOON_MILLIS, TimeUnit.MILLISECONDS)).isNull();

        FutureTask<CompletionQueue> interrupted = new FutureTask<>(() -> channel.awaitEvent(Duration.ofMinutes(10)));
        Thread thread = Thread.ofPlatform().daemon().start(interrupted);
        pair.here().awaitEvent(ABSENT_MILLIS);
        thread.interrupt();
        assertThatThrownBy(() -> interrupted.get(SOON_MILLIS, TimeUnit.MILLISECONDS))
                .hasCauseInstanceOf(RdmaInterruptedException.class);

        FutureTask<CompletionQueue> closed = sleeping(channel);
        pair.here().close();
        assertThatThrownBy(() -> closed.get(SOON_MILLIS, TimeUnit.MILLISECONDS))
                .hasCauseInstanceOf(IllegalStateException.class);
    }

    private static FutureTask<CompletionQueue> sleeping(CompletionChannel channel) {
        FutureTask<CompletionQueue> task = new FutureTask<>(() -> channel.awaitEvent(Duration.ofMinutes(10)));
        Thread.ofPlatform().daemon().start(task);
        return task;
    }

    /// One message, so that both ends have found each other.
    private static void exchange(Pair pair, long id) {
        pair.here().receive(id);
        pair.there().post(Work.send(id));
        pair.there().one();
        pair.here().one();
    }

    @Test
    void closingAChannelWakesItsWaiter() throws Exception {
        CompletionChannel channel = here().context().createCompletionChannel();
        Throwable[] thrown = new Throwable[1];
        Thread waiter = Thread.ofVirtual().start(() -> {
            try {
                channel.awaitEvent(Duration.ofMinutes(1));
            } catch (Throwable e) {
                thrown[0] = e;
            }
        });
        Deadline.await(
                "the waiter waits",
                () -> waiter.getState() == Thread.State.WAITING || waiter.getState() == Thread.State.TIMED_WAITING);
        channel.close();
        waiter.join(10_000);
        assertThat(waiter.isAlive()).isFalse();
        assertThat(thrown[0]).isInstanceOf(IllegalStateException.class).hasMessageContaining("is closed");
    }

    @Test
    void closingAContextWakesTheWaiterForAsynchronousEvents() throws Exception {
        Context context = closing(Rdma.open(fabric.device()));
        Throwable[] thrown = new Throwable[1];
        Thread waiter = Thread.ofVirtual().start(() -> {
            try {
                context.awaitAsyncEvent(Duration.ofMinutes(1));
            } catch (Throwable e) {
                thrown[0] = e;
            }
        });
        Deadline.await(
                "the waiter waits",
                () -> waiter.getState() == Thread.State.WAITING || waiter.getState() == Thread.State.TIMED_WAITING);
        context.close();
        waiter.join(10_000);
        assertThat(waiter.isAlive()).isFalse();
        assertThat(thrown[0]).isInstanceOf(IllegalStateException.class);
        assertThatIllegalStateException().isThrownBy(context::allocateProtectionDomain);
    }

    @Test
    @Timeout(300)
    void armingBeforeDrainingLosesNoWakeUp() throws Exception {
        int total = Amount.onLine(Amount.of(100_000, 2000), 500);
        Pair pair = connected(Spec.usual().withDepth(128, 128).withCompletions(512));
        EndMemory source = there().allocate(8, everything());
        LocalQueue queue = pair.here();
        EndMemory target = here().allocate(8, everything());
        for (int i = 0; i < 100; i++) {
            queue.receive(i, target.piece(0, 8));
        }
        Completions room = Completions.create(here().arena(), 32);
        ReceiveBatch again =
                ReceiveBatch.create(here().arena(), 1, 1).receive(1).with(target.address(), 8, target.localKey());
        Work send = Work.send(0, source.piece(0, 8));
        if (has(Deviation.NO_RECEIVE_ENDS_THE_CONNECTION)) {
            // Nothing else limits a sender there.
            PacedSender sender = new PacedSender(pair.there(), send);
            try {
                assertThat(armAndDrain(queue, room, again, total, sender::received))
                        .as("number of sleeps")
                        .isPositive();
            } finally {
                sender.end();
            }
            return;
        }
        try (Activity flood = pair.there().flood(send, 16)) {
            armAndDrain(queue, room, again, total, received -> {});
            flood.stop();
            drainUntilStopped(queue, room, again, flood);
            assertThat(flood.await(SOON_MILLIS).failed()).isEmpty();
        }
    }

    /// Sends from a separate thread, 16 messages whenever fewer than 16 are unreceived, so that there are
    /// always receives.
    private static final class PacedSender {
        private static final int PORTION = 16;

        private final AtomicLong received = new AtomicLong();
        private final FutureTask<Long> sending;
        private volatile boolean stopped;

        PacedSender(EndQueue from, Work send) {
            sending = new FutureTask<>(() -> send(from, Collections.nCopies(PORTION, send)));
            Thread.ofPlatform().name("paced sender").start(sending);
        }

        private long send(EndQueue from, List<Work> portion) {
            long sent = 0;
            while (!stopped) {
                if (sent - received.get() < PORTION) {
                    assertThat(from.postAll(portion)).isEqualTo(PORTION);
                    from.drain(PORTION);
                    sent += PORTION;
                } else {
                    LockSupport.parkNanos(20_000);
                }
            }
            return sent;
        }

        void received(long count) {
            received.set(count);
        }

        void end() throws Exception {
            stopped = true;
            sending.get(SOON_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    /// Returns the number of sleeps.
    private int armAndDrain(LocalQueue queue, Completions room, ReceiveBatch again, int total, LongConsumer progress)
            throws InterruptedException {
        int received = 0;
        int events = 0;
        queue.completionQueue().arm();
        while (received < total) {
            int count = queue.completionQueue().poll(room);
            if (count == 0) {
                CompletionQueue from = queue.channel().awaitEvent(Duration.ofMillis(SOON_MILLIS));
                assertThat(from)
                        .as("a wake-up after %d messages and %d events", received, events)
                        .isNotNull();
                events++;
                from.acknowledge(1);
                from.arm();
            }
            for (int i = 0; i < count; i++) {
                assertThat(room.isSuccess(i)).isTrue();
                assertThat(queue.queuePair().post(again)).isEqualTo(1);
            }
            received += count;
            progress.accept(received);
        }
        System.out.println(fabric + ": " + received + " messages, " + events + " events");
        return events;
    }

    private static void drainUntilStopped(LocalQueue queue, Completions room, ReceiveBatch again, Activity flood) {
        long seen;
        do {
            seen = flood.done();
            int count;
            do {
                count = queue.completionQueue().poll(room);
                for (int i = 0; i < count; i++) {
                    queue.queuePair().post(again);
                }
            } while (count > 0);
        } while (seen != flood.done());
    }

    @Test
    void completionsAreInTheQueueWhenTheEventArrives() {
        Pair pair = connected();
        for (int i = 0; i < Amount.onLine(Amount.of(2000, 200), 64); i++) {
            pair.here().receive(i);
            pair.here().arm();
            pair.there().post(Work.send(i).silent().numbered(i));
            assertThat(pair.here().awaitEvent(SOON_MILLIS)).as("event %d", i).isTrue();
            Outcome outcome = pair.here().collect(1, 0).getFirst();
            good(outcome, i, CompletionOpcode.RECEIVE);
            if (i % 32 == 31) {
                pair.here().receive(99_999);
                pair.there().post(Work.send(i));
                pair.there().one();
                pair.here().one();
            }
        }
    }
}
