package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.RdmaInterruptedException;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WaitGroup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Groups of completion channels that one thread waits for.
class WaitGroupTest extends ContractCase {
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final Duration LONG = Duration.ofMinutes(10);
    /// Long enough to prove that no event arrives.
    private static final Duration ABSENT = Duration.ofMillis(50);

    private WaitGroup group;

    @BeforeEach
    void create() {
        group = WaitGroup.create(here().context());
    }

    private List<Pair> members(int count) {
        List<Pair> pairs = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Pair pair = connected();
            group.add(pair.here().channel());
            pairs.add(pair);
        }
        return pairs;
    }

    /// Sends a message to an armed queue.
    private static void send(Pair pair, long id) {
        pair.here().receive(id);
        pair.here().arm();
        pair.there().post(Work.send(id));
        pair.there().one();
    }

    /// Takes the event that the group has reported, and the message.
    private static void take(LocalQueue queue, long id) {
        assertThat(queue.awaitEvent(0)).isTrue();
        good(queue.one(), id, CompletionOpcode.RECEIVE);
    }

    @Test
    void anyMemberEndsTheWait() {
        List<Pair> pairs = members(8);
        assertThat(group.await(ABSENT)).isNull();
        for (Pair pair : pairs) {
            send(pair, 1);
        }
        Set<CompletionChannel> found = new HashSet<>();
        for (int i = 0; i < pairs.size(); i++) {
            CompletionChannel channel = group.await(SOON);
            found.add(channel);
            pairs.stream()
                    .map(Pair::here)
                    .filter(queue -> queue.channel().equals(channel))
                    .forEach(queue -> take(queue, 1));
        }
        assertThat(found).hasSize(pairs.size());
        assertThat(group.await(Duration.ZERO)).isNull();
    }

    @Test
    void aMemberIsReportedInTurnUntilItsEventIsTaken() {
        List<Pair> pairs = members(2);
        LocalQueue first = pairs.getFirst().here();
        LocalQueue second = pairs.getLast().here();
        send(pairs.getFirst(), 1);
        send(pairs.getLast(), 2);
        Set<CompletionChannel> found = new HashSet<>();
        Deadline.await("both events", () -> {
            found.add(group.await(SOON));
            return found.size() == 2;
        });
        CompletionChannel one = group.await(SOON);
        CompletionChannel other = group.await(SOON);
        assertThat(List.of(one, other)).containsExactlyInAnyOrder(first.channel(), second.channel());
        assertThat(group.await(SOON)).isEqualTo(one);
        assertThat(group.await(SOON)).isEqualTo(other);
        take(first, 1);
        assertThat(group.await(SOON)).isEqualTo(second.channel());
        take(second, 2);
        assertThat(group.await(Duration.ZERO)).isNull();
    }

    @Test
    void anEarlierEventOfANewMemberCounts() {
        Pair pair = connected();
        send(pair, 1);
        group.add(pair.here().channel());
        group.add(pair.here().channel());
        assertThat(group.await(SOON)).isEqualTo(pair.here().channel());
        take(pair.here(), 1);
        assertThat(group.await(Duration.ZERO)).isNull();
    }

    @Test
    void aChannelThatWasRemovedOrClosedIsNotReported() {
        List<Pair> pairs = members(2);
        CompletionChannel removed = pairs.getFirst().here().channel();
        send(pairs.getFirst(), 1);
        send(pairs.getLast(), 2);
        group.remove(removed);
        pairs.getLast().here().close();
        group.remove(removed);
        assertThat(group.await(ABSENT)).isNull();
        group.add(removed);
        assertThat(group.await(SOON)).isEqualTo(removed);
        take(pairs.getFirst().here(), 1);
    }

    @Test
    void aChannelIsReportedToAllItsGroups() throws Exception {
        Pair pair = members(1).getFirst();
        WaitGroup other = WaitGroup.create(here().context());
        other.add(pair.here().channel());
        FutureTask<CompletionChannel> here = waiting(group);
        FutureTask<CompletionChannel> there = waiting(other);
        send(pair, 1);
        assertThat(get(here)).isEqualTo(pair.here().channel());
        assertThat(get(there)).isEqualTo(pair.here().channel());
        take(pair.here(), 1);
        assertThat(other.await(Duration.ZERO)).isNull();
        other.close();
        send(pair, 2);
        assertThat(group.await(SOON)).isEqualTo(pair.here().channel());
        take(pair.here(), 2);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aThreadThatSleepsWakesUpForEachMessage(boolean virtual) throws Exception {
        List<Pair> pairs = members(3);
        Completions room = Completions.create(here().arena(), 4);
        for (int id = 1; id <= 60; id++) {
            Pair pair = pairs.get(id % pairs.size());
            CompletionQueue queue = pair.here().completionQueue();
            pair.here().receive(id);
            queue.arm();
            assertThat(queue.poll(room)).isZero();
            FutureTask<CompletionChannel> sleeping = waiting(group, virtual);
            pair.there().post(Work.send(id));
            good(pair.there().one(), id, CompletionOpcode.SEND);
            assertThat(get(sleeping)).isEqualTo(pair.here().channel());
            take(pair.here(), id);
        }
    }

    /// While a thread waits for the group, another one may take what arrives.
    @Test
    void aThreadThatWaitsKeepsNobodyFromPolling() throws Exception {
        Pair pair = members(1).getFirst();
        send(pair, 1);
        assertThat(group.await(SOON)).isEqualTo(pair.here().channel());
        take(pair.here(), 1);
        FutureTask<CompletionChannel> sleeping = waiting(group);
        for (int id = 2; id < 20; id++) {
            pair.here().receive(id);
            pair.there().post(Work.send(id));
            pair.there().one();
            good(pair.here().one(), id, CompletionOpcode.RECEIVE);
        }
        assertThat(sleeping.isDone()).as("the queue was not armed").isFalse();
        send(pair, 20);
        assertThat(get(sleeping)).isEqualTo(pair.here().channel());
        take(pair.here(), 20);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aWakeUpEndsTheCurrentOrTheNextWait(boolean virtual) throws Exception {
        members(1);
        FutureTask<CompletionChannel> waiting = waiting(group, virtual);
        group.wakeUp();
        assertThat(get(waiting)).isNull();
        group.wakeUp();
        group.wakeUp();
        assertThat(group.await(LONG)).as("the next wait").isNull();
        long start = System.nanoTime();
        assertThat(group.await(ABSENT)).as("and only that one").isNull();
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(ABSENT.toNanos() * 9 / 10);
        group.close();
        group.wakeUp();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void closingTheGroupOrAnInterruptEndsTheWait(boolean virtual) throws Exception {
        Pair pair = members(1).getFirst();
        FutureTask<CompletionChannel> interrupted = new FutureTask<>(() -> group.await(LONG));
        Thread thread = start(interrupted, virtual);
        assertThat(pair.here().channel().awaitEvent(ABSENT)).isNull();
        thread.interrupt();
        assertThatThrownBy(() -> get(interrupted)).hasCauseInstanceOf(RdmaInterruptedException.class);

        FutureTask<CompletionChannel> closed = waiting(group, virtual);
        assertThat(pair.here().channel().awaitEvent(ABSENT)).isNull();
        group.close();
        assertThatThrownBy(() -> get(closed))
                .hasCauseInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is closed");
    }

    @Test
    void aChannelMayCloseWhileAThreadWaits() throws Exception {
        List<Pair> pairs = members(2);
        FutureTask<CompletionChannel> waiting = waiting(group);
        pairs.getFirst().here().close();
        send(pairs.getLast(), 1);
        assertThat(get(waiting)).isEqualTo(pairs.getLast().here().channel());
        take(pairs.getLast().here(), 1);
    }

    @Test
    void closedAndForeignObjectsAreRejected() {
        CompletionChannel closed = here().context().createCompletionChannel();
        closed.close();
        assertThatIllegalStateException().isThrownBy(() -> group.add(closed)).withMessageContaining("is closed");
        Context other = closing(Rdma.open(fabric.device()));
        CompletionChannel foreign = other.createCompletionChannel();
        assertThatThrownBy(() -> group.add(foreign))
                .isInstanceOf(VerbException.class)
                .hasMessageContainingAll("EINVAL", "another context");
        CompletionChannel open = here().context().createCompletionChannel();
        group.close();
        assertThatIllegalStateException().isThrownBy(() -> group.add(open)).withMessageContaining("is closed");
        assertThatIllegalStateException().isThrownBy(() -> group.await(SOON)).withMessageContaining("is closed");
        group.remove(open);
    }

    private static FutureTask<CompletionChannel> waiting(WaitGroup group) {
        return waiting(group, false);
    }

    /// A thread that waits, and most likely sleeps already.
    private static FutureTask<CompletionChannel> waiting(WaitGroup group, boolean virtual) {
        FutureTask<CompletionChannel> task = new FutureTask<>(() -> group.await(LONG));
        Thread thread = start(task, virtual);
        Deadline.await("the thread has begun", () -> thread.getState() != Thread.State.NEW);
        return task;
    }

    private static Thread start(FutureTask<CompletionChannel> task, boolean virtual) {
        return (virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon()).start(task);
    }

    private static CompletionChannel get(FutureTask<CompletionChannel> task) throws Exception {
        return task.get(SOON.toMillis(), TimeUnit.MILLISECONDS);
    }
}
