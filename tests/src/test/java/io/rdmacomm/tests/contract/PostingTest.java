package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.EndQueue;
import io.rdmacomm.tests.fixture.LocalMemory;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueuePairStateException;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/// States in which posting is allowed, chains, signaling and queue slots.
class PostingTest extends ContractCase {
    @Test
    void nothingCanBePostedInReset() {
        LocalQueue queue = here().queue(Spec.usual());
        assertThatThrownBy(() -> queue.receive(1))
                .isInstanceOf(QueuePairStateException.class)
                .hasMessageContaining("RESET");
        assertThatThrownBy(() -> queue.post(Work.send(1)))
                .isInstanceOf(QueuePairStateException.class)
                .hasMessageContaining("RESET");
    }

    @Test
    void receivesPostedBeforeConnectingAreKept() {
        Pair pair = pair(Spec.usual());
        EndMemory target = there().allocate(8, everything());
        pair.there().initialize(patient());
        assertThat(pair.there().receive(1, target.piece(0, 8))).isEqualTo(1);
        assertThatThrownBy(() -> {
                    pair.here().initialize(patient());
                    pair.here().post(Work.send(1));
                })
                .isInstanceOf(QueuePairStateException.class)
                .hasMessageContaining("INIT");
        if (can(Capability.CONNECT_BY_NUMBERS)) {
            pair.here().readyToReceive(pair.there().info(), patient());
            assertThatThrownBy(() -> pair.here().post(Work.send(1)))
                    .isInstanceOf(QueuePairStateException.class)
                    .hasMessageContaining("READY_TO_RECEIVE");
            pair.here().readyToSend(patient());
            pair.there().readyToReceive(pair.here().info(), patient());
        } else {
            pair.connect(patient());
        }

        pair.here().post(Work.send(2));

        good(pair.there().one(), 1, CompletionOpcode.RECEIVE);
        good(pair.here().one(), 2, CompletionOpcode.SEND);
    }

    @Test
    void aSingleThreadedQueuePairAccountsForSlots() {
        Pair pair = connected(Spec.usual().withDepth(2, 2).withSingleThreaded());
        EndMemory target = there().allocate(8, everything());
        EndMemory source = here().allocate(8, everything());
        for (int round = 0; round < 10; round++) {
            assertThat(pair.there().receive(1, target.piece(0, 8))).isEqualTo(1);
            assertThat(pair.there().receive(2, target.piece(0, 8))).isEqualTo(1);
            assertThat(pair.there().receive(3, target.piece(0, 8))).isZero();
            assertThat(pair.here()
                            .post(
                                    Work.send(1, source.piece(0, 8)),
                                    Work.send(2, source.piece(0, 8)),
                                    Work.send(3, source.piece(0, 8))))
                    .isEqualTo(2);
            good(pair.here().one(), 1, CompletionOpcode.SEND);
            good(pair.here().one(), 2, CompletionOpcode.SEND);
            good(pair.there().one(), 1, CompletionOpcode.RECEIVE);
            good(pair.there().one(), 2, CompletionOpcode.RECEIVE);
        }
    }

    @Test
    void aQueuePairThatIsReadyToReceiveServesItsPeer() {
        Pair pair = pair(Spec.usual());
        EndMemory target = there().allocate(64, everything());
        EndMemory source = here().allocate(64, everything());
        source.write(0, pattern(64, 1));
        pair.here().connect(pair.there().info(), patient());
        pair.there().initialize(patient());
        pair.there().receive(1, target.piece(0, 8));
        pair.there().readyToReceive(pair.here().info(), patient());

        pair.here()
                .post(
                        Work.send(2, source.piece(0, 8)),
                        Work.write(3, target.remote().slice(8, 8), source.piece(8, 8)),
                        Work.read(4, target.remote().slice(8, 8), source.piece(32, 8)));

        good(pair.here().one(), 2, CompletionOpcode.SEND);
        good(pair.here().one(), 3, CompletionOpcode.WRITE);
        good(pair.here().one(), 4, CompletionOpcode.READ);
        good(pair.there().one(), 1, CompletionOpcode.RECEIVE);
        assertThat(source.read(32, 8)).isEqualTo(source.read(8, 8));
        // The message itself need not be there before its completion was polled (mlx5).
        assertThat(target.read(0, 16)).isEqualTo(pattern(16, 1));
        assertThat(pair.there().state()).isEqualTo(QueuePairState.READY_TO_RECEIVE);
        raised(pair.there(), AsyncEventType.COMMUNICATION_ESTABLISHED);
    }

    @Test
    void aChainIsExecutedInOrder() {
        for (Way way : bothWays(connected())) {
            EndMemory source = way.from().allocate(64 * 8, everything());
            EndMemory target = way.to().allocate(8, everything());
            List<Work> chain = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                source.setLong(i * 8L, i + 1);
                chain.add(Work.write(i, target.remote(), source.piece(i * 8L, 8)));
            }
            assertThat(way.source().postAll(chain)).isEqualTo(60);
            assertThat(way.source().drain(60))
                    .extracting(Outcome::id)
                    .containsExactlyElementsOf(LongStream.range(0, 60).boxed().toList());
            arrived(target, 0, source.read(59 * 8, 8));
        }
    }

    /// A slot is free again after either. The queue has room for one of the chains.
    @Test
    void aRequestEndsAtOnceOrCompletes() {
        Pair pair = connected(Spec.usual().withDepth(3, 3));
        EndMemory target = there().allocate(64, everything());
        LocalMemory source = here().allocate(64, everything());
        QueuePair queuePair = pair.here().queuePair();
        SendBatch batch = SendBatch.create(here().arena(), 3, 1);
        int ended = 0;
        int rounds = Amount.onLine(60, 12);
        for (int i = 0; i < rounds; i++) {
            batch.clear();
            for (int silent = 0; silent < i % 3; silent++) {
                batch.write(i, target.address(), target.remote().key()).with(source.address(), 8, source.localKey());
            }
            boolean read = i % 2 == 0;
            (read
                            ? batch.read(
                                    100 + i, target.address(), target.remote().key())
                            : batch.write(
                                    100 + i, target.address(), target.remote().key()))
                    .with(source.address() + 8, 8, source.localKey())
                    .signaledUnlessAtOnce();
            assertThat(queuePair.post(batch)).isEqualTo(batch.size());
            if (batch.hasEndedAtOnce()) {
                ended++;
            } else {
                good(pair.here().one(), 100 + i, read ? CompletionOpcode.READ : CompletionOpcode.WRITE);
            }
            assertThat(pair.here().poll()).isEmpty();
        }
        assertThat(ended).as("at once always or never").isIn(0, rounds);

        batch.clear()
                .write(1, target.address(), target.remote().key())
                .with(source.address(), 8, source.localKey())
                .signaledUnlessAtOnce()
                .write(2, target.address(), target.remote().key())
                .with(source.address(), 8, source.localKey())
                .signaledUnlessAtOnce();
        assertThat(queuePair.post(batch)).isEqualTo(2);
        good(pair.here().one(), 1, CompletionOpcode.WRITE);
        if (!batch.hasEndedAtOnce()) {
            good(pair.here().one(), 2, CompletionOpcode.WRITE);
        }
        assertThat(pair.here().poll()).isEmpty();
    }

    @Test
    void aRequestThatEndsAtOnceFreesTheSlotsOfSilentOnesBefore() {
        for (int depth : new int[] {1, 2, 5}) {
            Pair pair = connected(Spec.usual().withDepth(depth, 3));
            EndMemory target = there().allocate(64, everything());
            LocalMemory source = here().allocate(64, everything());
            QueuePair queuePair = pair.here().queuePair();
            SendBatch silent = SendBatch.create(here().arena(), 1, 1);
            silent.write(1, target.address(), target.remote().key()).with(source.address(), 8, source.localKey());
            SendBatch last = SendBatch.create(here().arena(), 1, 1);
            last.write(2, target.address(), target.remote().key())
                    .with(source.address(), 8, source.localKey())
                    .signaledUnlessAtOnce();
            for (int round = 0; round < 10; round++) {
                for (int i = 0; i < queuePair.sizes().sends() - 1; i++) {
                    assertThat(queuePair.post(silent)).isEqualTo(1);
                }
                assertThat(queuePair.post(last)).as("round %d", round).isEqualTo(1);
                if (!last.hasEndedAtOnce()) {
                    good(pair.here().one(), 2, CompletionOpcode.WRITE);
                }
            }
            last.signaled();
            assertThat(queuePair.post(last)).isEqualTo(1);
            good(pair.here().one(), 2, CompletionOpcode.WRITE);
            assertThat(last.hasEndedAtOnce()).isFalse();
        }
    }

    @Test
    void onlySignaledRequestsComplete() {
        for (Way way : bothWays(connected())) {
            EndMemory target = way.to().allocate(8, everything());
            EndMemory source = way.from().allocate(8, everything());
            for (int round = 0; round < Amount.onLine(40, 10); round++) {
                List<Work> chain = new ArrayList<>();
                for (int i = 0; i < 7; i++) {
                    chain.add(Work.write(i, target.remote(), source.piece(0, 8)).silent());
                }
                chain.add(Work.write(100 + round, target.remote(), source.piece(0, 8)));
                assertThat(way.source().postAll(chain)).isEqualTo(8);
                good(way.source().one(), 100 + round, CompletionOpcode.WRITE);
                assertThat(way.source().poll()).isEmpty();
            }
        }
    }

    @Test
    void everyRequestCompletesOnAQueuePairThatSignalsAll() {
        Pair pair = connected(Spec.usual().withSignalAll());
        EndMemory target = there().allocate(8, everything());
        EndMemory source = here().allocate(8, everything());
        pair.here()
                .post(
                        Work.write(1, target.remote(), source.piece(0, 8)).silent(),
                        Work.read(2, target.remote(), source.piece(0, 8)).silent());
        good(pair.here().one(), 1, CompletionOpcode.WRITE);
        good(pair.here().one(), 2, CompletionOpcode.READ);
    }

    @Test
    void aFullQueueAcceptsFewerUntilAPoll() {
        Spec spec = Spec.usual().withDepth(16, 16);
        Pair pair = connected(spec);
        EndMemory target = there().allocate(8, everything());
        EndMemory source = here().allocate(8, everything());
        int depth = pair.here().queuePair().sizes().sends();
        List<Work> tooMany = new ArrayList<>();
        for (int i = 0; i < depth + 3; i++) {
            tooMany.add(Work.write(i, target.remote(), source.piece(0, 8)));
        }
        assertThat(pair.here().postAll(tooMany)).isEqualTo(depth);
        assertThat(pair.here().post(Work.write(99, target.remote(), source.piece(0, 8))))
                .as("the requests are done but not polled")
                .isZero();
        assertThat(pair.here().drain(1)).extracting(Outcome::id).containsExactly(0L);
        assertThat(pair.here().post(Work.write(99, target.remote(), source.piece(0, 8))))
                .isEqualTo(1);
        assertThat(pair.here().post(Work.write(100, target.remote(), source.piece(0, 8))))
                .isZero();
        assertThat(pair.here().drain(depth)).extracting(Outcome::id).endsWith((long) depth - 1, 99L);
    }

    @Test
    void aQueueFullOfUnsignaledRequestsStaysFull() {
        Pair pair = connected(Spec.usual().withDepth(8, 8));
        EndMemory target = there().allocate(8, everything());
        EndMemory source = here().allocate(8, everything());
        int depth = pair.here().queuePair().sizes().sends();
        for (int i = 0; i < depth; i++) {
            pair.here().post(Work.write(i, target.remote(), source.piece(0, 8)).silent());
        }
        assertThat(pair.here().poll()).isEmpty();
        assertThat(pair.here().post(Work.write(99, target.remote(), source.piece(0, 8))))
                .isZero();
        pair.here().modify(QueuePairState.ERROR);
    }

    @Test
    void aFullReceiveQueueAcceptsFewerUntilAPoll() {
        Pair pair = connected(Spec.usual().withDepth(8, 8));
        EndMemory target = here().allocate(8, everything());
        LocalQueue queue = pair.here();
        int depth = queue.queuePair().sizes().receives();
        for (int i = 0; i < depth; i++) {
            assertThat(queue.receive(i, target.piece(0, 8))).isEqualTo(1);
        }
        assertThat(queue.receive(99, target.piece(0, 8))).isZero();
        pair.there().post(Work.send(1));
        pair.there().one();
        good(queue.one(), 0, CompletionOpcode.RECEIVE);
        assertThat(queue.receive(99, target.piece(0, 8))).isEqualTo(1);
    }

    @Test
    void receivesAreUsedInTheOrderTheyWerePosted() {
        for (Way way : bothWays(connected())) {
            EndMemory target = way.to().allocate(8 * 32, everything());
            EndMemory source = way.from().allocate(8, everything());
            for (int i = 0; i < 32; i++) {
                way.target().receive(i, target.piece(i * 8L, 8));
            }
            for (int i = 0; i < 32; i++) {
                source.setLong(0, 1000 + i);
                way.source().post(Work.send(i, source.piece(0, 8)));
                way.source().one();
            }
            List<Outcome> received = way.target().drain(32);
            for (int i = 0; i < 32; i++) {
                good(received.get(i), i, CompletionOpcode.RECEIVE);
                assertThat(target.getLong(i * 8L)).isEqualTo(1000 + i);
            }
        }
    }

    @Test
    void carriesManyMoreRequestsThanItsDepth() {
        Pair pair = connected(Spec.usual().withDepth(4, 4));
        EndMemory target = there().allocate(8, everything());
        EndMemory source = here().allocate(8, everything());
        int done = 0;
        int posted = 0;
        int total = Amount.onLine(Amount.of(20_000, 100), 100);
        while (done < total) {
            while (posted < total && pair.here().post(Work.write(posted, target.remote(), source.piece(0, 8))) == 1) {
                posted++;
            }
            for (Outcome outcome : pair.here().drain(1)) {
                good(outcome, done++, CompletionOpcode.WRITE);
            }
        }
    }

    @Test
    void sendsAndReceivesMayCompleteInDifferentQueues() {
        LocalQueue a = here().queue(Spec.usual());
        EndQueue b = there().queue(Spec.usual());
        var receiveQueue = here().context().createCompletionQueue(CompletionQueueOptions.ofCapacity(16));
        var pair = here().domain()
                .createQueuePair(
                        here().options(a.completionQueue(), Spec.usual()).withReceiveCompletions(receiveQueue));
        connect(pair, b);
        b.receive(1);
        var arena = here().arena();
        var sends = SendBatch.create(arena, 1, 1).send(2).signaled();
        var memory = here().allocate(8, everything());
        // An element of length zero, because libsiw rejects a receive without elements.
        var receives = ReceiveBatch.create(arena, 1, 1).receive(3).with(memory.address(), 0, memory.localKey());
        pair.post(receives);
        pair.post(sends);
        b.post(Work.send(4));
        assertThat(b.drain(2)).extracting(Outcome::id).containsExactlyInAnyOrder(1L, 4L);
        good(a.one(), 2, CompletionOpcode.SEND);
        var completions = Completions.create(arena, 4);
        Deadline.await("the receive", () -> receiveQueue.poll(completions) == 1);
        assertThat(completions.workId(0)).isEqualTo(3);
        assertThat(a.poll()).isEmpty();
    }
}
