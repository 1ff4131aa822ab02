package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.Deviation;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.Fabric;
import io.rdmacomm.tests.fixture.LocalEnd;
import io.rdmacomm.tests.fixture.LocalMemory;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Tally;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Many threads that use the same objects, and objects that are closed while in use.
class ThreadsTest extends ContractCase {
    private static final int POSTERS = 3;
    private static final int EACH = Amount.onLine(Amount.of(10_000, 500), 100);
    /// 268 ms, four times. Seven retries, the default, never end on some devices, and on a busy machine traffic starts
    /// late.
    private static final ConnectionOptions LIMITED =
            ConnectionOptions.defaults().withTimeout(Duration.ofMillis(268), 3);

    @Test
    @Timeout(300)
    void manyThreadsPostToAndPollOneQueuePair() throws Exception {
        Pair pair = connected(Spec.usual().withDepth(128, 128).withCompletions(1024));
        QueuePair queuePair = pair.here().queuePair();
        CompletionQueue queue = pair.here().completionQueue();
        EndMemory source = here().allocate(8, everything());
        EndMemory target = there().allocate(8, everything());
        boolean atomics = can(Capability.ATOMICS);
        AtomicIntegerArray seen = new AtomicIntegerArray(POSTERS * EACH);
        AtomicInteger polled = new AtomicInteger();
        try (ExecutorService threads = Executors.newFixedThreadPool(POSTERS + 2)) {
            List<Future<?>> all = new ArrayList<>();
            for (int poster = 0; poster < POSTERS; poster++) {
                int first = poster * EACH;
                all.add(threads.submit(() -> {
                    SendBatch batch = SendBatch.create(here().arena(), 1, 1);
                    Deadline deadline = Deadline.in(60_000);
                    for (int i = 0; i < EACH; ) {
                        batch.clear();
                        RemoteMemory to = target.remote();
                        if (atomics) {
                            batch.fetchAndAdd(first + i, to.address(), to.key(), 1);
                        } else {
                            batch.write(first + i, to.address(), to.key());
                        }
                        batch.with(source.address(), 8, source.localKey()).signaled();
                        if (queuePair.post(batch) == 1) {
                            i++;
                            deadline = Deadline.in(60_000);
                        } else if (!deadline.waiting()) {
                            throw new AssertionError("stuck after " + i);
                        }
                    }
                }));
            }
            for (int poller = 0; poller < 2; poller++) {
                all.add(threads.submit(() -> {
                    Completions room = Completions.create(here().arena(), 16);
                    Deadline deadline = Deadline.in(60_000);
                    while (polled.get() < POSTERS * EACH) {
                        int count = queue.poll(room);
                        for (int i = 0; i < count; i++) {
                            assertThat(room.status(i)).isEqualTo(WorkStatus.SUCCESS);
                            seen.incrementAndGet((int) room.workId(i));
                        }
                        polled.addAndGet(count);
                        if (count > 0) {
                            deadline = Deadline.in(60_000);
                        } else if (!deadline.waiting()) {
                            throw new AssertionError("stuck after " + polled);
                        }
                    }
                }));
            }
            for (Future<?> each : all) {
                each.get(280, TimeUnit.SECONDS);
            }
        }
        for (int i = 0; i < seen.length(); i++) {
            assertThat(seen.get(i)).as("completions of request %d", i).isEqualTo(1);
        }
        assertThat(target.getLong(0)).isEqualTo(atomics ? (long) POSTERS * EACH : 0);
    }

    @Test
    void manyThreadsPostReceivesAndEachIsUsedOnce() throws Exception {
        Pair pair = connected(Spec.usual().withDepth(128, 128).withCompletions(1024));
        boolean receivesFirst = has(Deviation.NO_RECEIVE_ENDS_THE_CONNECTION);
        AtomicIntegerArray seen =
                new AtomicIntegerArray(receivesFirst ? 100 : Amount.onLine(Amount.of(6000, 1000), 300));
        try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
            AtomicInteger next = new AtomicInteger();
            List<Future<?>> posters = new ArrayList<>();
            for (int t = 0; t < 2; t++) {
                posters.add(threads.submit(() -> postReceives(pair.here(), next, seen.length())));
            }
            if (receivesFirst) {
                await(posters);
                pair.there()
                        .postAll(Collections.nCopies(seen.length(), Work.send(0).silent()));
                countReceives(pair.here(), seen);
            } else {
                try (var flood = pair.there().flood(Work.send(0), 32)) {
                    countReceives(pair.here(), seen);
                    await(posters);
                    // Its last messages meet no receive.
                    flood.stop();
                    pair.here().modify(QueuePairState.ERROR);
                }
            }
        }
        for (int i = 0; i < seen.length(); i++) {
            assertThat(seen.get(i)).isEqualTo(1);
        }
        pair.there().close();
    }

    private void postReceives(LocalQueue queue, AtomicInteger next, int total) {
        ReceiveBatch batch = ReceiveBatch.create(here().arena(), 1, 1);
        LocalMemory nothing = here().allocate(8, everything());
        Deadline deadline = Deadline.in(60_000);
        for (int id = next.getAndIncrement(); id < total; id = next.getAndIncrement()) {
            // An element of length zero, because libsiw rejects a receive without elements.
            batch.clear().receive(id).with(nothing.address(), 0, nothing.localKey());
            while (queue.queuePair().post(batch) == 0) {
                if (!deadline.waiting()) {
                    throw new AssertionError("stuck at " + id);
                }
            }
            deadline.progress();
        }
    }

    /// Counts until as many have arrived as fit.
    private void countReceives(LocalQueue queue, AtomicIntegerArray seen) {
        Completions room = Completions.create(here().arena(), 16);
        int[] received = new int[1];
        Deadline.await("all receives", () -> {
            int count = queue.completionQueue().poll(room);
            for (int i = 0; i < count; i++) {
                seen.incrementAndGet((int) room.workId(i));
            }
            received[0] += count;
            return received[0] == seen.length();
        });
    }

    private static void await(List<Future<?>> all) throws Exception {
        for (Future<?> each : all) {
            each.get(60, TimeUnit.SECONDS);
        }
    }

    @Test
    void closingAQueuePairInUseIsSafe() throws Exception {
        for (int round = 0; round < Amount.of(30, 5); round++) {
            Pair pair = connected();
            LocalQueue queue = pair.here();
            EndMemory source = here().allocate(4096, everything());
            EndMemory target = there().allocate(4096, everything());
            CountDownLatch running = new CountDownLatch(2);
            AtomicInteger posts = new AtomicInteger();
            try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
                Future<String> poster = threads.submit(() -> {
                    try {
                        running.countDown();
                        while (true) {
                            posts.addAndGet(queue.post(Work.write(1, target.remote(), source.piece(0, 4096))));
                        }
                    } catch (IllegalStateException e) {
                        return e.getMessage();
                    }
                });
                Future<String> poller = threads.submit(() -> {
                    Completions room = Completions.create(here().arena(), 16);
                    try {
                        running.countDown();
                        while (true) {
                            queue.completionQueue().poll(room);
                        }
                    } catch (IllegalStateException e) {
                        return e.getMessage();
                    }
                });
                assertThat(running.await(10, TimeUnit.SECONDS)).isTrue();
                Deadline.await("posts", () -> posts.get() > 10);
                queue.queuePair().close();
                assertThat(poster.get(10, TimeUnit.SECONDS))
                        .contains("queue pair 0x")
                        .contains("is closed");
                queue.completionQueue().close();
                assertThat(poller.get(10, TimeUnit.SECONDS))
                        .contains("completion queue")
                        .contains("is closed");
            }
            pair.there().close();
        }
    }

    @Test
    void closingAContextUnderTrafficIsSafe() throws Exception {
        for (int round = 0; round < 15; round++) {
            LocalEnd end = closing(LocalEnd.open(fabric.device()));
            LocalQueue mine = end.queue(Spec.usual());
            pair(mine, there().queue(Spec.usual())).connect(patient());
            CompletionQueue queue = mine.completionQueue();
            LocalMemory memory = end.allocate(4096, everything());
            RemoteMemory target = there().allocate(4096, everything()).remote();
            CountDownLatch running = new CountDownLatch(1);
            try (ExecutorService threads = Executors.newFixedThreadPool(1)) {
                Future<String> traffic = threads.submit(() -> {
                    SendBatch batch = SendBatch.create(here().arena(), 1, 1);
                    Completions room = Completions.create(here().arena(), 16);
                    try {
                        for (long i = 0; ; i++) {
                            batch.clear().write(i, target.address(), target.key());
                            batch.with(memory.address(), 4096, memory.localKey())
                                    .signaled();
                            mine.queuePair().post(batch);
                            queue.poll(room);
                            if (i == 100) {
                                running.countDown();
                            }
                        }
                    } catch (IllegalStateException e) {
                        return e.getMessage();
                    }
                });
                assertThat(running.await(10, TimeUnit.SECONDS)).isTrue();
                end.context().close();
                assertThat(traffic.get(10, TimeUnit.SECONDS)).contains("is closed");
            }
        }
    }

    @Test
    void carriesTrafficInBothDirectionsConcurrently() {
        Pair pair = connected(Spec.usual().withDepth(64, 64).withCompletions(1024));
        EndMemory mine = here().allocate(4096, everything());
        EndMemory theirs = there().allocate(4096, everything());
        try (var out = pair.here().flood(Work.write(0, theirs.remote(), mine.piece(0, 4096)), 32);
                var back = pair.there().flood(Work.read(0, mine.remote(), theirs.piece(0, 4096)), 32)) {
            int enough = Amount.onLine(Amount.of(5000, 500), 100);
            Deadline.await("traffic both ways", () -> out.done() > enough && back.done() > enough);
            out.stop();
            back.stop();
            assertThat(out.await(10_000).failed()).isEmpty();
            assertThat(back.await(10_000).failed()).isEmpty();
        }
    }

    /// Checks that the first failure has one of the statuses in `first`, and that all others were
    /// flushed. A device that keeps late requests may keep all of them.
    private void endedByThePeer(Tally tally, Set<WorkStatus> first) {
        List<WorkStatus> failed = tally.failed().stream().map(Outcome::status).toList();
        if (failed.isEmpty() && has(Deviation.WORK_POSTED_IN_ERROR_STAYS)) {
            return;
        }
        assertThat(first).contains(failed.getFirst());
        assertThat(failed.stream().skip(1)).allMatch(status -> status == WorkStatus.FLUSHED);
    }

    @Tag("slow")
    @Test
    void thePeersQueuePairMayCloseUnderTraffic() {
        for (int round = 0; round < Amount.onLine(Amount.of(5, 2), 2); round++) {
            Pair pair = pair(Spec.usual()).connect(LIMITED);
            EndMemory mine = here().allocate(1 << 16, everything());
            EndMemory theirs = there().allocate(1 << 16, everything());
            pair.there().receive(1);
            try (var out = pair.here().flood(Work.write(0, theirs.remote(), mine.piece(0, 1 << 16)), 8)) {
                Deadline.await("traffic", () -> out.done() > Amount.onLine(50, 20));
                pair.there().close();
                endedByThePeer(out.await(20_000), refusal(WorkStatus.RETRY_EXCEEDED));
            }
        }
    }

    @Tag("slow")
    @Test
    void thePeersQueuePairMayCloseUnderMessages() {
        for (int round = 0; round < Amount.onLine(Amount.of(5, 2), 2); round++) {
            Pair pair = pair(Spec.usual()).connect(LIMITED);
            for (int i = 0; i < 64; i++) {
                pair.there().receive(i);
            }
            try (var out = pair.here().flood(Work.send(0), 8)) {
                Deadline.await("messages", () -> out.done() > 20);
                pair.there().close();
                Tally tally = out.await(20_000);
                endedByThePeer(tally, EnumSet.complementOf(EnumSet.of(WorkStatus.SUCCESS)));
                assertThat(tally.failed()).extracting(Outcome::id).doesNotHaveDuplicates();
            }
        }
    }

    @Test
    void thePeersContextMayCloseUnderTraffic() {
        Pair pair = pair(Spec.usual()).connect(LIMITED);
        EndMemory mine = here().allocate(1 << 16, everything());
        EndMemory theirs = there().allocate(1 << 16, everything());
        if (fabric.place() == Fabric.Place.SAME_CONTEXT) {
            return; // It would be this context.
        }
        try (var out = pair.here().flood(Work.read(0, theirs.remote(), mine.piece(0, 1 << 16)), 8)) {
            Deadline.await("traffic", () -> out.done() > Amount.onLine(50, 20));
            there().close();
            Set<WorkStatus> expected = EnumSet.of(WorkStatus.REMOTE_ACCESS_ERROR, WorkStatus.FLUSHED);
            expected.addAll(refusal(WorkStatus.RETRY_EXCEEDED));
            endedByThePeer(out.await(20_000), expected);
        }
        pair.here().awaitState(QueuePairState.ERROR);
    }

    @Test
    void contextsCanBeOpenedAndClosedByManyThreads() throws Exception {
        boolean numbers = can(Capability.CONNECT_BY_NUMBERS);
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            List<Future<?>> all = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                all.add(threads.submit(() -> {
                    for (int i = 0; i < 10; i++) {
                        try (Context context = Rdma.open(fabric.device())) {
                            CompletionQueue queue =
                                    context.createCompletionQueue(CompletionQueueOptions.ofCapacity(16));
                            QueuePair pair = context.allocateProtectionDomain()
                                    .createQueuePair(here().options(queue, Spec.usual()));
                            if (numbers) {
                                pair.connect(pair.info(), patient());
                            }
                        }
                    }
                }));
            }
            for (Future<?> each : all) {
                each.get(60, TimeUnit.SECONDS);
            }
        }
    }
}
