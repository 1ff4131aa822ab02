package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.tests.fixture.Activity;
import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.AtomicCapability;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.UnsupportedVerbException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Compare-and-swap and fetch-and-add.
class AtomicsTest extends ContractCase {
    private boolean missing() {
        if (can(Capability.ATOMICS)) {
            return false;
        }
        LocalQueue queue = connected().here();
        EndMemory memory = here().allocate(8, everything());
        assertThatThrownBy(() -> queue.post(Work.fetchAndAdd(1, memory.remote(), 1, memory.piece(0, 8))))
                .isInstanceOf(UnsupportedVerbException.class);
        return true;
    }

    @Test
    void returnsTheOldValueInHostByteOrder() {
        if (missing()) {
            return;
        }
        for (Way way : bothWays(connected())) {
            EndMemory target = way.to().allocate(64, everything());
            EndMemory local = way.from().allocate(64, everything());
            for (int offset : new int[] {0, 8, 56}) {
                RemoteMemory at = target.remote().slice(offset, 8);
                target.setLong(offset, 0x0102030405060708L);
                way.source().post(Work.fetchAndAdd(1, at, 0x10, local.piece(8, 8)));
                assertThat(good(way.source().one(), 1, CompletionOpcode.FETCH_AND_ADD)
                                .bytes())
                        .isEqualTo(8);
                assertThat(local.getLong(8)).isEqualTo(0x0102030405060708L);
                assertThat(target.getLong(offset)).isEqualTo(0x0102030405060718L);

                way.source().post(Work.compareAndSwap(2, at, 5, 6, local.piece(8, 8)));
                good(way.source().one(), 2, CompletionOpcode.COMPARE_AND_SWAP);
                assertThat(local.getLong(8)).as("the value that was there").isEqualTo(0x0102030405060718L);
                assertThat(target.getLong(offset)).as("not what was expected").isEqualTo(0x0102030405060718L);

                way.source().post(Work.compareAndSwap(3, at, 0x0102030405060718L, -1, local.piece(16, 8)));
                good(way.source().one(), 3, CompletionOpcode.COMPARE_AND_SWAP);
                assertThat(local.getLong(16)).isEqualTo(0x0102030405060718L);
                assertThat(target.getLong(offset)).isEqualTo(-1);
                way.source().post(Work.fetchAndAdd(4, at, 2, local.piece(0, 8)));
                way.source().one();
                assertThat(target.getLong(offset)).as("it wraps around").isEqualTo(1);
            }
        }
    }

    @Test
    void scattersTheResult() {
        if (missing()) {
            return;
        }
        Pair pair = connected();
        EndMemory target = there().allocate(8, everything());
        EndMemory local = here().register(64, everything());
        target.setLong(0, 0x1122334455667788L);
        pair.here().post(Work.fetchAndAdd(1, target.remote(), 0, local.piece(3, 8)));
        good(pair.here().one(), 1, CompletionOpcode.FETCH_AND_ADD);
        byte[] expected = {(byte) 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11};
        assertThat(local.read(3, 8)).as("an unaligned result").isEqualTo(expected);
    }

    @Test
    @Tag("slow")
    void sumIsExactFromManyQueuePairsBothSidesAndTheCpu() throws Exception {
        if (missing()) {
            return;
        }
        int pairs = 3;
        int each = Amount.onLine(Amount.of(5000, 500), 100);
        boolean global = here().context().attributes().atomics() == AtomicCapability.GLOBAL;
        EndMemory counter = there().allocate(8, everything());
        EndMemory own = there().register(64, everything());
        for (EndMemory target : List.of(counter, own)) {
            target.setLong(0, 0);
            List<Activity> floods = new ArrayList<>();
            List<Pair> all = new ArrayList<>();
            for (int i = 0; i < pairs; i++) {
                Pair pair = connected(Spec.usual());
                all.add(pair);
                EndMemory mine = here().allocate(8, everything());
                EndMemory theirs = there().allocate(8, everything());
                floods.add(pair.here().flood(Work.fetchAndAdd(0, target.remote(), 1, mine.piece(0, 8)), 16));
                // The end that owns the memory adds through its own queue pair.
                var loop = there().queue(Spec.usual());
                loop.connect(loop.info(), patient());
                floods.add(loop.flood(Work.fetchAndAdd(0, target.remote(), 1, theirs.piece(0, 8)), 16));
            }
            int byProcessor = global ? 20_000 : 0;
            target.increment(0, byProcessor);
            Deadline.await(
                    "all have added", () -> floods.stream().allMatch(flood -> flood.done() >= each || flood.isOver()));
            long sum = byProcessor;
            floods.forEach(Activity::stop);
            for (Activity flood : floods) {
                var tally = flood.await(20_000);
                assertThat(tally.failed()).isEmpty();
                sum += tally.good();
            }
            assertThat(target.getLong(0)).isEqualTo(sum);
            for (Pair pair : all) {
                pair.here().close();
                pair.there().close();
            }
        }
    }

    @Test
    @Tag("slow")
    void compareAndSwapImplementsALock() {
        if (missing()) {
            return;
        }
        EndMemory memory = there().allocate(16, everything());
        RemoteMemory lock = memory.remote().slice(0, 8);
        RemoteMemory value = memory.remote().slice(8, 8);
        Pair one = connected();
        Pair two = connected();
        EndMemory local = here().allocate(64, everything());
        int rounds = Amount.onLine(200, 20);
        for (int round = 0; round < rounds; round++) {
            Pair pair = round % 2 == 0 ? one : two;
            pair.here().post(Work.compareAndSwap(1, lock, 0, round + 1, local.piece(0, 8)));
            pair.here().one();
            assertThat(local.getLong(0)).isZero();
            Pair other = round % 2 == 0 ? two : one;
            other.here().post(Work.compareAndSwap(2, lock, 0, 99, local.piece(8, 8)));
            other.here().one();
            assertThat(local.getLong(8)).as("held by the other").isEqualTo(round + 1);
            pair.here().post(Work.read(3, value, local.piece(16, 8)));
            pair.here().one();
            local.setLong(24, local.getLong(16) + 1);
            pair.here()
                    .post(
                            Work.write(4, value, local.piece(24, 8)),
                            Work.compareAndSwap(5, lock, round + 1, 0, local.piece(0, 8)));
            assertThat(pair.here().drain(2)).extracting(Outcome::id).containsExactly(4L, 5L);
        }
        assertThat(memory.getLong(8)).isEqualTo(rounds);
    }

    @Test
    void atomicsBeyondTheDepthWaitInTheQueue() {
        if (missing()) {
            return;
        }
        Pair pair = connected(patient().withReadAtomic(1));
        EndMemory target = there().allocate(8, everything());
        EndMemory local = here().allocate(64 * 8, everything());
        List<Work> works = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            works.add(
                    i % 2 == 0
                            ? Work.fetchAndAdd(i, target.remote(), 1, local.piece(i * 8L, 8))
                            : Work.read(i, target.remote(), local.piece(i * 8L, 8)));
        }
        assertThat(pair.here().postAll(works)).isEqualTo(60);
        List<Outcome> outcomes = pair.here().drain(60);
        for (int i = 0; i < 60; i++) {
            assertThat(outcomes.get(i).id()).isEqualTo(i);
            assertThat(local.getLong(i * 8L)).isEqualTo((i + 1) / 2);
        }
    }
}
