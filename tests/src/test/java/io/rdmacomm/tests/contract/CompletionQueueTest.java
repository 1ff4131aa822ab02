package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.tests.fixture.Activity;
import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.Deviation;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.UnsupportedVerbException;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Capacity, overrun and resizing of completion queues.
class CompletionQueueTest extends ContractCase {
    @Test
    void everyCompletionVectorServesQueues() throws Exception {
        Context context = here().context();
        int vectors = (int) context.limit(DeviceLimit.COMPLETION_VECTORS);
        assertThat(vectors).isPositive();
        try (CompletionChannel channel = context.createCompletionChannel()) {
            CompletionQueueOptions options =
                    CompletionQueueOptions.ofCapacity(1).withChannel(channel);
            for (int vector = 0; vector < vectors; vector++) {
                CompletionQueue queue = context.createCompletionQueue(options.withVector(vector));
                queue.arm();
                queue.close();
            }
            assertThatThrownBy(() -> context.createCompletionQueue(options.withVector(vectors)))
                    .isInstanceOfSatisfying(
                            VerbException.class,
                            rejected -> assertThat(rejected.errno()).isEqualTo(Errno.EINVAL))
                    .hasMessageContaining("no completion vector " + vectors);
        }
    }

    @Test
    void holdsAtLeastTheRequestedCapacity() {
        for (int capacity : new int[] {1, 2, 3, 100, 1000}) {
            CompletionQueue queue = here().context().createCompletionQueue(CompletionQueueOptions.ofCapacity(capacity));
            assertThat(queue.capacity()).isGreaterThanOrEqualTo(capacity);
            queue.close();
        }
        long max = here().context().attributes().limit(DeviceLimit.MAX_COMPLETION_QUEUE_DEPTH);
        assertThatThrownBy(
                        () -> here().context().createCompletionQueue(CompletionQueueOptions.ofCapacity((int) max + 1)))
                .isInstanceOfSatisfying(
                        VerbException.class,
                        rejected -> assertThat(rejected.errno()).isEqualTo(Errno.EINVAL));
    }

    @Test
    void canBeFilledToItsCapacity() {
        LocalQueue queue =
                connected(Spec.usual().withDepth(64, 64).withCompletions(8)).here();
        EndMemory memory = here().allocate(8, everything());
        EndMemory target = there().allocate(8, everything());
        int capacity = queue.completionQueue().capacity();
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < Math.min(capacity, 64); i++) {
                assertThat(queue.post(Work.write(i, target.remote(), memory.piece(0, 8))))
                        .isEqualTo(1);
            }
            assertThat(queue.drain(Math.min(capacity, 64))).allMatch(outcome -> outcome.opcode() != null);
        }
        assertThat(queue.state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    /// A program that looks before it polls misses nothing: neither completions of its own requests nor of receives.
    @Test
    void aQueueWithACompletionIsNotKnownToBeEmpty() {
        Pair pair = connected();
        LocalQueue queue = pair.here();
        EndMemory memory = here().allocate(8, everything());
        EndMemory target = there().allocate(8, everything());
        Runnable looked = () -> {
            CompletionQueue known = queue.completionQueue();
            Deadline.await("a completion", () -> !known.isKnownEmpty());
            assertThat(queue.drain(1)).allMatch(outcome -> outcome.status() == WorkStatus.SUCCESS);
        };
        for (int i = 0; i < 50; i++) {
            queue.post(Work.write(i, target.remote(), memory.piece(0, 8)));
            looked.run();
            queue.postReceive(i, List.of(memory.piece(0, 8)));
            pair.there().post(Work.send(i, target.piece(0, 8)));
            looked.run();
            pair.there().drain(1);
        }
    }

    private int overrun(LocalQueue queue) {
        EndMemory memory = here().allocate(8, everything());
        EndMemory target = there().allocate(8, everything());
        int capacity = queue.completionQueue().capacity();
        int posted = 0;
        while (posted <= capacity && queue.post(Work.write(posted, target.remote(), memory.piece(0, 8))) == 1) {
            posted++;
        }
        return capacity;
    }

    @Test
    void anOverrunBreaksTheQueueAndItsQueuePairs() {
        Spec spec = Spec.usual().withDepth(256, 16).withCompletions(4);
        LocalQueue queue = connected(spec).here();
        QueuePair bystander = here().domain().createQueuePair(here().options(queue.completionQueue(), spec));
        if (can(Capability.CONNECT_BY_NUMBERS)) {
            bystander.connect(bystander.info());
        }

        int capacity = overrun(queue);

        assertThat(queue.happens(AsyncEventType.COMPLETION_QUEUE_ERROR, 10_000)).isTrue();
        if (has(Deviation.OVERRUN_LOSES_COMPLETIONS)) {
            assertThat(queue.state()).isEqualTo(QueuePairState.READY_TO_SEND);
            assertThat(queue.collect(capacity + 1, 100)).hasSize(capacity);
            return;
        }
        queue.awaitState(QueuePairState.ERROR);
        Deadline.await(
                "the other queue pair fails as well", () -> bystander.query().state() == QueuePairState.ERROR);
        Completions room = Completions.create(here().arena(), 1024);
        assertThatThrownBy(() -> {
                    for (int i = 0; i <= capacity; i++) {
                        assertThat(queue.completionQueue().isKnownEmpty()).isFalse();
                        queue.completionQueue().poll(room);
                    }
                })
                .isInstanceOfSatisfying(
                        VerbException.class,
                        broken -> assertThat(broken.errno()).isEqualTo(Errno.EIO));
        bystander.close();
        queue.close();
    }

    @Test
    void anOverrunByMessagesOfThePeerBreaksTheQueue() {
        LocalQueue small = here().queue(Spec.usual().withDepth(16, 128).withCompletions(4));
        Pair pair = pair(small, there().queue(Spec.usual().withDepth(128, 128).withCompletions(512)))
                .connect(patient());
        int capacity = small.completionQueue().capacity();
        for (int i = 0; i <= Math.min(capacity, 100); i++) {
            small.receive(i);
        }
        for (int i = 0; i <= Math.min(capacity, 100); i++) {
            pair.there().post(Work.send(i));
        }
        assertThat(small.happens(AsyncEventType.COMPLETION_QUEUE_ERROR, 10_000)).isTrue();
        if (!has(Deviation.STATE_IS_NOT_TOLD)) {
            small.awaitState(QueuePairState.ERROR);
        }
    }

    @Test
    void aQueueThatIsNotPolledDoesNotStopOthers() {
        Pair busy = connected();
        overrun(connected(Spec.usual().withDepth(256, 16).withCompletions(2)).here());
        EndMemory memory = here().allocate(8, everything());
        EndMemory target = there().allocate(8, everything());
        busy.here().post(Work.write(1, target.remote(), memory.piece(0, 8)));
        good(busy.here().one(), 1, CompletionOpcode.WRITE);
    }

    @Test
    void resizingKeepsItsCompletions() {
        Pair pair = connected(Spec.usual().withCompletions(16));
        if (!can(Capability.RESIZE_COMPLETION_QUEUE)) {
            assertThatThrownBy(() -> pair.here().resize(64)).isInstanceOf(UnsupportedVerbException.class);
            return;
        }
        EndMemory target = there().allocate(8, everything());
        EndMemory source = here().allocate(8, everything());
        for (int i = 0; i < 10; i++) {
            pair.here().post(Work.write(i, target.remote(), source.piece(0, 8)));
        }
        assertThat(pair.here().resize(200)).isGreaterThanOrEqualTo(200);
        List<Outcome> first = pair.here().drain(10);
        for (int i = 0; i < 10; i++) {
            good(first.get(i), i, CompletionOpcode.WRITE);
        }
        for (int i = 0; i < 60; i++) {
            pair.here().post(Work.fetchAndAdd(i, target.remote(), 1, source.piece(0, 8)));
        }
        Deadline.await("all 60 are in the queue", () -> target.getLong(0) == 60);
        assertThatThrownBy(() -> pair.here().resize(20))
                .isInstanceOfSatisfying(
                        VerbException.class,
                        rejected -> assertThat(rejected.errno()).isEqualTo(Errno.EINVAL));
        pair.here().drain(60);
        assertThat(pair.here().resize(16)).isGreaterThanOrEqualTo(16);
        pair.here().post(Work.write(77, target.remote(), source.piece(0, 8)));
        good(pair.here().one(), 77, CompletionOpcode.WRITE);
    }

    @Test
    void aFullQueueCanGrow() {
        Pair pair = connected(Spec.usual().withCompletions(8));
        if (!can(Capability.RESIZE_COMPLETION_QUEUE)) {
            return;
        }
        EndMemory target = there().allocate(8, everything());
        EndMemory source = here().allocate(8, everything());
        int full = pair.here().completionQueue().capacity();
        for (int step = 1; step <= 3; step++) {
            long before = target.getLong(0);
            int room = pair.here().completionQueue().capacity() - (step == 1 ? 0 : full);
            for (int i = 0; i < Math.min(room, 20); i++) {
                assertThat(pair.here().post(Work.fetchAndAdd(i, target.remote(), 1, source.piece(0, 8))))
                        .isEqualTo(1);
            }
            Deadline.await("they are done", () -> target.getLong(0) == before + Math.min(room, 20));
            assertThat(pair.here().resize(full * 8 * step)).isGreaterThanOrEqualTo(full * 8 * step);
        }
        int total = (int) target.getLong(0);
        assertThat(pair.here().drain(total)).allMatch(outcome -> outcome.status() == WorkStatus.SUCCESS);
        assertThat(pair.here().poll()).isEmpty();
        assertThat(pair.here().state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    @Test
    void canBeResizedWhileThePeerSends() {
        Pair pair = connected(Spec.usual().withDepth(64, 64).withCompletions(256));
        if (!can(Capability.RESIZE_COMPLETION_QUEUE)) {
            return;
        }
        LocalQueue queue = pair.here();
        EndMemory source = there().allocate(8, everything());
        EndMemory target = here().allocate(8, everything());
        try (Activity flood = pair.there().flood(Work.send(0, source.piece(0, 8)), 32)) {
            long received = 0;
            for (int i = 0; i < 64; i++) {
                queue.receive(i, target.piece(0, 8));
            }
            for (int round = 0; round < 100; round++) {
                queue.resize(round % 2 == 0 ? 1000 : 200);
                for (int step = 0; step < 50; step++) {
                    received += again(queue, target);
                }
            }
            Deadline.await("some traffic", () -> again(queue, target) > 0 || flood.done() > 100);
            flood.stop();
            Deadline.until(500, () -> {
                again(queue, target);
                return false;
            });
            assertThat(flood.await(10_000).failed()).isEmpty();
            System.out.println(fabric + ": " + received + " messages during 100 resizes");
        }
    }

    private static int again(LocalQueue queue, EndMemory target) {
        List<Outcome> outcomes = queue.poll();
        for (Outcome outcome : outcomes) {
            good(outcome, outcome.id(), CompletionOpcode.RECEIVE);
            queue.receive(outcome.id(), target.piece(0, 8));
        }
        return outcomes.size();
    }

    @Test
    @Tag("slow")
    void hundredsOfQueuePairsShareOneQueue() {
        // Connecting by address is slow. Without its placeholder, siw has room for only 55.
        int count = fabric.address() == null ? 300 : 160;
        CompletionQueue shared = here().context().createCompletionQueue(CompletionQueueOptions.ofCapacity(4096));
        Spec spec = Spec.usual().withDepth(8, 8);
        QueuePair[] pairs = new QueuePair[count];
        EndMemory memory = here().allocate(8L * count, everything());
        for (int i = 0; i < count; i++) {
            pairs[i] = here().domain().createQueuePair(here().options(shared, spec));
        }
        Completions room = Completions.create(here().arena(), 64);
        var receives = ReceiveBatch.create(here().arena(), 1, 1);
        var sends = SendBatch.create(here().arena(), 1, 1);
        for (int i = 0; i < count; i += 2) {
            connect(pairs[i], pairs[i + 1]);
        }
        boolean[] sent = new boolean[count];
        boolean[] received = new boolean[count];
        for (int i = 0; i < count; i++) {
            // An element of length zero, because libsiw rejects a receive without elements.
            receives.clear().receive(1000 + i).with(memory.address(), 0, memory.localKey());
            assertThat(pairs[i].post(receives)).isEqualTo(1);
        }
        for (int i = 0; i < count; i++) {
            sends.clear()
                    .send(i)
                    .with(memory.address() + 8L * i, 0, memory.localKey())
                    .signaled();
            assertThat(pairs[i].post(sends)).isEqualTo(1);
        }
        int[] seen = new int[1];
        Deadline.await("all completions", () -> {
            int polled = shared.poll(room);
            for (int i = 0; i < polled; i++) {
                assertThat(room.isSuccess(i)).isTrue();
                int id = (int) room.workId(i) % 1000;
                assertThat(room.queuePairNumber(i)).isEqualTo(pairs[id].number());
                (room.isReceive(i) ? received : sent)[id] = true;
                seen[0]++;
            }
            return seen[0] == 2 * count;
        });
        assertThat(sent).containsOnly(true);
        assertThat(received).containsOnly(true);
    }
}
