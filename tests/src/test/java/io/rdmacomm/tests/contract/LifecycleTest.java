package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.Deviation;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.EndQueue;
import io.rdmacomm.tests.fixture.LocalEnd;
import io.rdmacomm.tests.fixture.LocalMemory;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.MemoryWindowType;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.RdmaInterruptedException;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// Thousands of objects, opened and closed repeatedly, and changes to them while they are in use.
class LifecycleTest extends ContractCase {
    private static final int CYCLES = Amount.of(3000, 300);

    @Test
    void queuePairsCanBeCreatedAndClosedRepeatedly() {
        EndMemory memory = here().allocate(8, everything());
        EndMemory source = there().allocate(8, everything());
        for (int i = 0; i < CYCLES; i++) {
            CompletionQueue queue = here().context().createCompletionQueue(CompletionQueueOptions.ofCapacity(64));
            QueuePair pair = here().domain().createQueuePair(here().options(queue, Spec.usual()));
            if (i % 100 == 0) {
                Pair other = connected();
                other.there().post(Work.write(i, memory.remote(), source.piece(0, 8)));
                good(other.there().one(), i, CompletionOpcode.WRITE);
                other.here().close();
                other.there().close();
            }
            pair.close();
            queue.close();
        }
    }

    @Test
    void regionsWindowsAndSharedQueuesCanBeCreatedAndClosedRepeatedly() {
        var domain = here().domain();
        MemorySegment own = here().arena().allocate(64, 64);
        boolean windows = can(Capability.MEMORY_WINDOW_TYPE_1);
        boolean shared = can(Capability.SHARED_RECEIVE_QUEUE);
        for (int i = 0; i < CYCLES; i++) {
            domain.register(own, everything()).close();
            if (i % 10 == 0) {
                domain.allocate(4096, everything()).close();
            }
            if (windows) {
                domain.allocateWindow(MemoryWindowType.TYPE_1).close();
            }
            if (shared) {
                domain.createSharedReceiveQueue(SharedReceiveQueueOptions.ofDepth(64))
                        .close();
            }
        }
    }

    @Test
    void thousandsOfOpenRegionsHaveSeparateMemory() {
        int count = 2000;
        MemorySegment whole = here().arena().allocate(8L * count, 64);
        List<MemoryRegion> regions = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            regions.add(here().domain().register(whole.asSlice(8L * i, 8), everything()));
        }
        EndQueue writer = connected().there();
        EndMemory source = there().allocate(8, everything());
        for (int i = 0; i < count; i += 97) {
            source.setLong(0, i + 1);
            writer.post(Work.write(i, regions.get(i).remote(), source.piece(0, 8)));
            good(writer.one(), i, CompletionOpcode.WRITE);
            arrived(new LocalMemory(regions.get(i)), 0, source.read(0, 8));
            assertThat(whole.get(ValueLayout.JAVA_LONG, 8L * i)).isEqualTo(i + 1);
        }
    }

    @Test
    void contextsCanBeOpenedAndConnectedRepeatedly() {
        EndMemory memory = here().allocate(8, everything());
        for (int i = 0; i < 60; i++) {
            try (LocalEnd next = LocalEnd.open(fabric.device())) {
                LocalQueue mine = here().queue(Spec.usual());
                pair(mine, next.queue(Spec.usual())).connect(patient());
                mine.post(Work.read(i, memory.remote().slice(0, 0)));
                good(mine.one(), i, CompletionOpcode.READ);
                mine.close();
            }
        }
    }

    @Test
    void tooMuchMemoryFailsWithAReasonAndLeavesNothing() {
        assertThatThrownBy(() -> here().domain().allocate(1L << 46, everything()))
                .isInstanceOfSatisfying(
                        VerbException.class,
                        rejected -> assertThat(rejected.errno()).isIn(Errno.ENOMEM, Errno.ENOSPC, Errno.EINVAL));
        here().domain().allocate(4096, everything()).close();
    }

    @Test
    void completionsOfAClosedQueuePairAreHarmless() {
        LocalQueue queue = connected().here();
        QueuePair other = here().domain().createQueuePair(here().options(queue.completionQueue(), Spec.usual()));
        EndMemory source = here().allocate(8, everything());
        EndMemory target = there().allocate(8, everything());
        source.setLong(0, 1);
        queue.post(Work.write(1, target.remote(), source.piece(0, 8)));
        Deadline.await("it is done", () -> target.getLong(0) == 1);
        queue.queuePair().close();
        assertThat(queue.collect(1, 50)).extracting(Outcome::id).isSubsetOf(1L);
        other.close();
        queue.close();
    }

    /// The next queue pair may have the same number.
    @Test
    void completionsOfAClosedQueuePairDoNotAffectTheNext() {
        EndMemory memory = here().allocate(8, everything());
        EndMemory target = there().allocate(8, everything());
        for (int round = 0; round < 5; round++) {
            LocalQueue first = connected().here();
            first.receive(1, memory.piece(0, 8));
            first.receive(2, memory.piece(0, 8));
            first.queuePair().modify(new QueuePairAttributes().state(QueuePairState.ERROR));
            first.queuePair().close();
            Pair second = connected();
            assertThat(first.collect(2, 50)).extracting(Outcome::id).isSubsetOf(1L, 2L);
            assertThat(second.here().queuePair().state()).isEqualTo(QueuePairState.READY_TO_SEND);
            second.here().post(Work.write(3, target.remote(), memory.piece(0, 8)));
            good(second.here().one(), 3, CompletionOpcode.WRITE);
            first.close();
            second.here().close();
            second.there().close();
        }
    }

    @Test
    void accessRightsOfAConnectedQueuePairCanBeRevoked() {
        Pair pair = connected();
        EndMemory source = there().allocate(8, everything());
        EndMemory target = here().allocate(8, everything());
        pair.there().post(Work.write(1, target.remote(), source.piece(0, 8)));
        good(pair.there().one(), 1, CompletionOpcode.WRITE);
        Set<AccessFlag> fewer = EnumSet.of(AccessFlag.REMOTE_READ);
        pair.here()
                .queuePair()
                .modify(new QueuePairAttributes()
                        .state(QueuePairState.READY_TO_SEND)
                        .accessFlags(fewer));
        pair.there().post(Work.read(2, target.remote(), source.piece(0, 8)));
        good(pair.there().one(), 2, CompletionOpcode.READ);
        pair.there().post(Work.write(3, target.remote(), source.piece(0, 8)));
        if (has(Deviation.RIGHTS_OF_A_QUEUE_PAIR_DO_NOT_COUNT)) {
            good(pair.there().one(), 3, CompletionOpcode.WRITE);
        } else {
            failed(pair.there().one(), 3, WorkStatus.REMOTE_INVALID_REQUEST);
        }
    }

    @Test
    void aQueuePairMayHaveQueuesOfZeroEntries() {
        Spec receiver = Spec.usual().withDepth(0, 16);
        if (has(Deviation.A_QUEUE_PAIR_HAS_ROOM_FOR_SENDS)) {
            assertThatThrownBy(() -> here().queue(receiver))
                    .isInstanceOfSatisfying(
                            VerbException.class,
                            rejected -> assertThat(rejected.errno()).isEqualTo(Errno.EINVAL))
                    .hasMessageContaining("sends=0");
            return;
        }
        Pair pair = pair(here().queue(receiver), there().queue(Spec.usual().withDepth(16, 0)));
        pair.connect(patient());
        assertThat(pair.here().receive(1)).isEqualTo(1);
        pair.there().post(Work.send(2));
        good(pair.there().one(), 2, CompletionOpcode.SEND);
        good(pair.here().one(), 1, CompletionOpcode.RECEIVE);
    }

    @Test
    void aWaiterCanBeInterrupted() throws Exception {
        LocalQueue queue = here().queue(Spec.usual());
        boolean[] interrupted = new boolean[1];
        Thread waiter = Thread.ofPlatform().start(() -> {
            try {
                queue.channel().awaitEvent(Duration.ofMinutes(1));
            } catch (RdmaInterruptedException e) {
                interrupted[0] = Thread.currentThread().isInterrupted();
            }
        });
        waiter.interrupt();
        waiter.join(10_000);
        assertThat(waiter.isAlive()).isFalse();
        assertThat(interrupted[0]).isTrue();
        // Everything else still works.
        Pair pair = connected();
        pair.there().receive(1);
        pair.here().post(Work.send(2));
        good(pair.here().one(), 2, CompletionOpcode.SEND);
        good(pair.there().one(), 1, CompletionOpcode.RECEIVE);
    }

    @Test
    void anInterruptedThreadCanPostAndPoll() {
        Pair pair = connected();
        EndMemory source = here().register(64, everything());
        EndMemory target = there().register(64, everything());
        LocalQueue queue = pair.here();
        Work work = Work.write(1, target.remote(), source.piece(0, 64));
        List<Outcome> outcomes;
        Thread.currentThread().interrupt();
        try {
            queue.post(work);
            outcomes = queue.collect(1, 10_000);
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
        assertThat(outcomes).hasSize(1);
        good(outcomes.getFirst(), 1, CompletionOpcode.WRITE);
    }
}
