package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueuePairStateException;
import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.UnsupportedVerbException;
import io.rdmacomm.verbs.WorkStatus;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Queued work when a queue pair goes to ERROR, RESET or SEND_QUEUE_DRAIN.
class FlushTest extends ContractCase {
    private static List<Long> ids(List<Outcome> outcomes, long from, long to) {
        return outcomes.stream()
                .map(Outcome::id)
                .filter(id -> id >= from && id < to)
                .toList();
    }

    /// Requests that no receive can hold back wait for a READ, behind a fence.
    private void whatWaitsForAReadIsFlushedOnce() {
        int bytes = 8 << 20;
        Pair pair = connected();
        LocalQueue queue = pair.here();
        EndMemory source = there().allocate(bytes, everything());
        EndMemory target = here().allocate(bytes, everything());
        for (long i = 0; i < 20; i++) {
            queue.receive(1000 + i);
        }
        queue.post(Work.read(0, source.remote(), target.piece(0, bytes)));
        for (long i = 1; i < 20; i++) {
            queue.post(Work.write(i, source.remote(), target.piece(0, 8)).fenced());
        }
        queue.modify(QueuePairState.ERROR);
        List<Outcome> all = queue.drain(40);
        assertThat(ids(all, 0, 1000)).isSorted().hasSize(20);
        assertThat(ids(all, 1000, 2000)).isSorted().hasSize(20);
        assertThat(all).extracting(Outcome::id).doesNotHaveDuplicates();
        assertThat(all.stream().dropWhile(outcome -> outcome.status() == WorkStatus.SUCCESS))
                .isNotEmpty()
                .allMatch(outcome -> outcome.status() == WorkStatus.FLUSHED);
        assertThat(queue.collect(1, 50)).as("nothing completes twice").isEmpty();
        assertThat(queue.state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    void goingToErrorFlushesBothQueuesInOrderAndOnce() {
        if (has(Deviation.NO_RECEIVE_ENDS_THE_CONNECTION)) {
            whatWaitsForAReadIsFlushedOnce();
            return;
        }
        Pair pair = connected();
        LocalQueue queue = pair.here();
        List<Long> sends = new ArrayList<>();
        List<Long> receives = new ArrayList<>();
        for (long i = 0; i < 20; i++) {
            queue.receive(1000 + i);
            receives.add(1000 + i);
            // The peer has no receive: all of them wait.
            queue.post(i % 2 == 0 ? Work.send(i) : Work.send(i).silent());
            sends.add(i);
        }
        queue.modify(QueuePairState.ERROR);
        queue.post(Work.send(20).silent());
        sends.add(20L);
        queue.receive(1020);
        receives.add(1020L);

        List<Outcome> all = queue.drain(sends.size() + receives.size());

        assertThat(all).allMatch(outcome -> outcome.status() == WorkStatus.FLUSHED);
        assertThat(all).allMatch(outcome -> outcome.queuePair() == queue.number());
        assertThat(ids(all, 0, 1000)).isEqualTo(sends);
        assertThat(ids(all, 1000, 2000)).isEqualTo(receives);
        assertThat(queue.collect(1, 50)).as("nothing completes twice").isEmpty();
        assertThat(queue.state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    void aFailureIsReportedEvenIfItWasNotSignaledAndFlushesTheRest() {
        Pair pair = connected();
        EndMemory source = here().allocate(8, everything());
        RemoteMemory nowhere = new RemoteMemory(0x1000, 8, 0x1357);
        EndMemory target = there().allocate(8, everything());
        pair.here().receive(100);
        pair.here()
                .post(
                        Work.write(1, target.remote(), source.piece(0, 8)),
                        Work.write(2, target.remote(), source.piece(0, 8)).silent(),
                        Work.write(3, nowhere, source.piece(0, 8)).silent(),
                        Work.write(4, target.remote(), source.piece(0, 8)).silent(),
                        Work.read(5, target.remote(), source.piece(0, 8)));
        if (has(Deviation.REFUSAL_ENDS_THE_CONNECTION)) {
            // A WRITE is done when it is sent; only the READ needs an answer.
            List<Outcome> some = pair.here().until(1L, 5L, 100L);
            good(some.getFirst(), 1, CompletionOpcode.WRITE);
            assertThat(some.subList(1, some.size()))
                    .allMatch(outcome -> refusal(WorkStatus.REMOTE_ACCESS_ERROR).contains(outcome.status()));
            assertThat(some)
                    .filteredOn(outcome -> !has(Deviation.A_READ_MAY_BE_FLUSHED_TWICE) || outcome.id() != 5)
                    .extracting(Outcome::id)
                    .doesNotHaveDuplicates();
            assertThat(some).extracting(Outcome::id).contains(5L, 100L);
            return;
        }
        List<Outcome> all = pair.here().drain(5);
        good(all.get(0), 1, CompletionOpcode.WRITE);
        failed(all.get(1), 3, WorkStatus.REMOTE_ACCESS_ERROR);
        flushed(all.subList(2, 5), List.of(4L, 5L), List.of(100L));
    }

    @Test
    void workOfAFailedQueuePairHasNoEffect() {
        Pair pair = connected();
        EndMemory source = here().allocate(8, everything());
        EndMemory target = there().allocate(8, everything());
        source.setLong(0, 77);
        pair.here().modify(QueuePairState.ERROR);
        if (has(Deviation.WORK_POSTED_IN_ERROR_STAYS)) {
            assertThat(can(Capability.FLUSH_IN_ERROR)).isFalse();
            assertThat(pair.here().post(Work.write(1, target.remote(), source.piece(0, 8))))
                    .isEqualTo(1);
            assertThat(pair.here().receive(2)).isEqualTo(1);
            assertThat(pair.here().collect(1, 200)).isEmpty();
            assertThat(target.getLong(0)).isZero();
            return;
        }
        for (int i = 0; i < 200; i++) {
            assertThat(pair.here().post(Work.write(i, target.remote(), source.piece(0, 8))))
                    .isEqualTo(1);
            failed(pair.here().one(), i, WorkStatus.FLUSHED);
            assertThat(pair.here().receive(1000 + i)).isEqualTo(1);
            failed(pair.here().one(), 1000 + i, WorkStatus.FLUSHED);
        }
        assertThat(target.getLong(0)).isZero();
    }

    @Test
    void aMarkerPostedAfterwardsEndsTheFlush() {
        Pair pair = connected();
        for (int i = 0; i < 10; i++) {
            pair.here().receive(i);
        }
        pair.here().modify(QueuePairState.ERROR);
        pair.here().receive(999);
        if (has(Deviation.WORK_POSTED_IN_ERROR_STAYS)) {
            flushed(pair.here().drain(10), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
            assertThat(pair.here().collect(1, 200)).isEmpty();
            return;
        }
        flushed(pair.here().drain(11), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 999);
    }

    @Test
    void aFailedQueuePairIgnoresItsPeer() {
        Pair pair = pair(Spec.usual()).connect(impatient(1));
        EndMemory target = there().allocate(8, everything());
        EndMemory source = here().allocate(8, everything());
        source.setLong(0, 5);
        pair.there().receive(1);
        pair.here().receive(3);
        pair.there().modify(QueuePairState.ERROR);
        if (has(Deviation.REFUSAL_ENDS_THE_CONNECTION)) {
            // It may be sent before the end is known, or stay.
            pair.here().post(Work.write(2, target.remote(), source.piece(0, 8)));
            assertThat(pair.here().until(3L))
                    .filteredOn(outcome -> outcome.id() == 3)
                    .extracting(Outcome::status)
                    .containsExactly(WorkStatus.FLUSHED);
            pair.here().awaitState(QueuePairState.ERROR);
        } else {
            pair.here().post(Work.write(2, target.remote(), source.piece(0, 8)));
            List<Outcome> mine = pair.here().drain(2);
            failed(mine.get(0), 2, WorkStatus.RETRY_EXCEEDED);
            failed(mine.get(1), 3, WorkStatus.FLUSHED);
        }
        failed(pair.there().one(), 1, WorkStatus.FLUSHED);
        assertThat(target.getLong(0)).isZero();
    }

    @Test
    void goingToResetDiscardsWorkSilently() {
        if (!can(Capability.RESET)) {
            resetIsRejected();
            return;
        }
        Pair pair = connected();
        LocalQueue queue = pair.here();
        queue.receive(2);
        queue.post(Work.send(3), Work.send(4));
        queue.modify(QueuePairState.RESET);
        assertThat(queue.collect(1, 100)).isEmpty();
        assertThat(queue.state()).isEqualTo(QueuePairState.RESET);
        assertThatThrownBy(() -> queue.receive(5)).isInstanceOf(QueuePairStateException.class);
    }

    @Test
    void completionsFromBeforeAResetStayAndFreeNothing() {
        Pair pair = connected(Spec.usual().withDepth(8, 8));
        LocalQueue queue = pair.here();
        EndMemory target = there().allocate(8, everything());
        EndMemory source = here().allocate(8, everything());
        for (int i = 0; i < 8; i++) {
            queue.post(Work.fetchAndAdd(i, target.remote(), 1, source.piece(0, 8)));
        }
        Deadline.await("all are done", () -> target.getLong(0) == 8);
        queue.modify(QueuePairState.RESET);
        pair.there().modify(QueuePairState.RESET);
        pair.connect(patient());
        // A device may also drop them.
        assertThat(queue.collect(8, 100)).extracting(Outcome::id).isSubsetOf(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L);
        int taken = 0;
        while (taken < 100 && queue.post(Work.write(100 + taken, target.remote(), source.piece(0, 8))) == 1) {
            taken++;
        }
        assertThat(taken).isEqualTo(queue.queuePair().sizes().sends());
        assertThat(queue.drain(taken)).allMatch(outcome -> outcome.status() == WorkStatus.SUCCESS);
    }

    /// And the connection goes on.
    private void resetIsRejected() {
        Pair pair = connected();
        assertThatThrownBy(() -> pair.here().modify(QueuePairState.RESET)).isInstanceOf(UnsupportedVerbException.class);
        pair.there().receive(1);
        pair.here().post(Work.send(2));
        good(pair.here().one(), 2, CompletionOpcode.SEND);
        good(pair.there().one(), 1, CompletionOpcode.RECEIVE);
        pair.here().modify(QueuePairState.ERROR);
        assertThatThrownBy(() -> pair.here().modify(QueuePairState.RESET)).isInstanceOf(UnsupportedVerbException.class);
    }

    @Test
    void aQueuePairCanBeUsedAgainAfterAReset() {
        if (!can(Capability.RESET)) {
            resetIsRejected();
            return;
        }
        Pair pair = connected(Spec.usual().withDepth(8, 8));
        EndMemory target = there().allocate(8, everything());
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < 8; i++) {
                pair.here().post(Work.send(i));
                pair.here().receive(i);
            }
            pair.here().modify(round % 2 == 0 ? QueuePairState.ERROR : QueuePairState.RESET);
            if (round % 2 == 0) {
                pair.here().drain(16);
                pair.here().modify(QueuePairState.RESET);
            }
            pair.there().modify(QueuePairState.RESET);
            pair.connect(patient());
            EndMemory source = here().allocate(8, everything());
            source.setLong(0, round);
            pair.there().receive(200, target.piece(0, 8));
            pair.here().post(Work.send(100, source.piece(0, 8)));
            good(pair.here().one(), 100, CompletionOpcode.SEND);
            good(pair.there().one(), 200, CompletionOpcode.RECEIVE);
            assertThat(target.getLong(0)).isEqualTo(round);
        }
    }

    /// Lets held requests go on.
    private void resume(LocalQueue queue) {
        queue.modify(QueuePairState.READY_TO_SEND);
        if (has(Deviation.HELD_SENDS_NEED_A_POST)) {
            assertThat(queue.collect(1, 50)).as("still held").isEmpty();
            queue.post(Work.write(99, new RemoteMemory(0, 0, 0)).silent());
        }
    }

    @Test
    void drainingHoldsSendsServesThePeerAndResumes() {
        Pair pair = connected();
        EndMemory mine = here().allocate(16, everything());
        EndMemory theirs = there().allocate(16, everything());
        mine.setLong(0, 11);
        theirs.setLong(0, 22);
        pair.here().receive(5, mine.piece(8, 8));
        pair.here().drainSends();
        assertThat(pair.here().happens(AsyncEventType.SEND_QUEUE_DRAINED, 5000)).isTrue();
        assertThat(pair.here().state()).isEqualTo(QueuePairState.SEND_QUEUE_DRAIN);

        assertThat(pair.here().post(Work.write(1, theirs.remote().slice(8, 8), mine.piece(0, 8))))
                .isEqualTo(1);
        pair.there().post(Work.send(6, theirs.piece(0, 8)));
        good(pair.there().one(), 6, CompletionOpcode.SEND);
        good(pair.here().one(), 5, CompletionOpcode.RECEIVE);
        assertThat(pair.here().collect(1, 100)).as("the send is held").isEmpty();
        assertThat(theirs.getLong(8)).isZero();

        resume(pair.here());
        good(pair.here().one(), 1, CompletionOpcode.WRITE);
        assertThat(theirs.getLong(8)).isEqualTo(11);
        assertThat(mine.getLong(8)).isEqualTo(22);
    }

    @Test
    void aSendWithoutAReceiveSurvivesDraining() {
        boolean waits = differences().drainWaitsForReceiver();
        Pair pair = connected();
        if (!can(Capability.SEND_QUEUE_DRAIN)) {
            // Before a SEND without a receive, which ends the connection of some devices.
            assertThatThrownBy(() -> pair.here().drainSends()).isInstanceOf(UnsupportedVerbException.class);
            return;
        }
        pair.here().post(Work.send(1));
        pair.here().drainSends();
        assertThat(pair.here().happens(AsyncEventType.SEND_QUEUE_DRAINED, waits ? 100 : 5000))
                .as("drained although the SEND has met no receive")
                .isNotEqualTo(waits);
        pair.there().receive(2);
        if (waits) {
            good(pair.here().one(), 1, CompletionOpcode.SEND);
            assertThat(pair.here().happens(AsyncEventType.SEND_QUEUE_DRAINED, 5000))
                    .isTrue();
        } else {
            assertThat(pair.here().collect(1, 50)).as("the SEND is held").isEmpty();
            resume(pair.here());
            good(pair.here().one(), 1, CompletionOpcode.SEND);
        }
        good(pair.there().one(), 2, CompletionOpcode.RECEIVE);
    }

    @Test
    void heldSendsAreFlushedByAnError() {
        Pair pair = connected();
        pair.here().modify(QueuePairState.SEND_QUEUE_DRAIN);
        pair.here().post(Work.send(1), Work.send(2).silent());
        pair.here().modify(QueuePairState.ERROR);
        flushed(pair.here().drain(2), 1, 2);
    }

    @Test
    void attributesCanBeChangedWhileDrained() {
        Pair pair = connected();
        pair.here().drainSends();
        assertThat(pair.here().happens(AsyncEventType.SEND_QUEUE_DRAINED, 5000)).isTrue();
        pair.here()
                .queuePair()
                .modify(new QueuePairAttributes()
                        .state(QueuePairState.SEND_QUEUE_DRAIN)
                        .rnrRetry(0));
        pair.here().modify(QueuePairState.READY_TO_SEND);
        pair.here().post(Work.send(1));
        failed(pair.here().one(), 1, WorkStatus.RECEIVER_NOT_READY_EXCEEDED);
    }
}
