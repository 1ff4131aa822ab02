package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.Deviation;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.LocalMemory;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.RnrTimer;
import io.rdmacomm.verbs.WorkStatus;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A message that meets no receive.
class ReceiverNotReadyTest extends ContractCase {
    private static final Duration TIMER = Duration.ofNanos(5_120_000);
    private static final Duration SHORTEST = Duration.ofNanos(10_000);
    private static final Duration LONGEST = new RnrTimer(0).duration();

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6})
    void isRetriedAsConfiguredAndThenFails(int count) {
        Pair pair = connected(receiverNotReady(count, TIMER));
        pair.here().receive(10);
        long start = System.nanoTime();
        pair.here().post(Work.send(1), Work.send(2));
        failed(pair.here().one(), 1, WorkStatus.RECEIVER_NOT_READY_EXCEEDED);
        long took = System.nanoTime() - start;
        assertThat(took).as("each of %d waits lasts 5.12 ms", count).isGreaterThanOrEqualTo(count * TIMER.toNanos());
        assertThat(took).isLessThan((count + 1) * TIMER.toNanos() + TimeUnit.SECONDS.toNanos(5));
        flushed(pair.here().drain(2), List.of(2L), List.of(10L));
        pair.here().awaitState(QueuePairState.ERROR);
        assertThat(pair.there().state()).as("the receiver did nothing wrong").isEqualTo(QueuePairState.READY_TO_SEND);
    }

    @Test
    void aFencedSendIsRetriedWithAReadBehindIt() {
        Pair pair = connected();
        LocalMemory local = here().allocate(64, everything());
        EndMemory remote = there().allocate(64, everything());
        pair.here()
                .post(
                        Work.send(1, local.piece(0, 8)).fenced(),
                        Work.read(2, remote.remote().slice(0, 8), local.piece(8, 8)));
        assertThat(pair.here().collect(1, 100)).isEmpty();
        pair.there().receive(3, remote.piece(8, 8));
        if (has(Deviation.FENCE_WAITS_FOR_WHAT_FOLLOWS)) {
            assertThat(pair.here().collect(1, 1000)).as("it waits without end").isEmpty();
            pair.here().modify(QueuePairState.ERROR);
            flushed(pair.here().drain(2), 1, 2);
            return;
        }
        good(pair.here().one(), 1, CompletionOpcode.SEND);
        good(pair.here().one(), 2, CompletionOpcode.READ);
        good(pair.there().one(), 3, CompletionOpcode.RECEIVE);
    }

    @Test
    void theReceiverSetsTheTimer() {
        Duration theirs = Duration.ofNanos(10_240_000);
        Pair pair = pair(Spec.usual()).connect(receiverNotReady(4, SHORTEST), receiverNotReady(4, theirs));
        long start = System.nanoTime();
        pair.here().post(Work.send(1));
        failed(pair.here().one(), 1, WorkStatus.RECEIVER_NOT_READY_EXCEEDED);
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(4 * theirs.toNanos());
        start = System.nanoTime();
        pair.there().close();
        assertThat(System.nanoTime() - start).isLessThan(5_000_000_000L);
    }

    @Test
    void sevenRetriesMeanNoLimit() {
        Pair pair = connected(receiverNotReady(7, SHORTEST));
        EndMemory source = here().allocate(8, everything());
        EndMemory target = there().allocate(8, everything());
        source.setLong(0, 4711);
        pair.here().post(Work.send(1, source.piece(0, 8)));
        assertThat(pair.here().collect(1, 300)).isEmpty();
        assertThat(pair.here().state()).isEqualTo(QueuePairState.READY_TO_SEND);
        pair.there().receive(2, target.piece(0, 8));
        good(pair.here().one(), 1, CompletionOpcode.SEND);
        good(pair.there().one(), 2, CompletionOpcode.RECEIVE);
        assertThat(target.getLong(0)).isEqualTo(4711);
    }

    @Test
    void aReceivePostedInTimeIsUsed() {
        Pair pair = connected(receiverNotReady(6, Duration.ofMillis(327)));
        pair.here().post(Work.send(1));
        assertThat(pair.here().collect(1, 20)).isEmpty();
        pair.there().receive(2);
        good(pair.here().one(), 1, CompletionOpcode.SEND);
        good(pair.there().one(), 2, CompletionOpcode.RECEIVE);
    }

    @Tag("slow")
    @Test
    void theRetryCountStartsAgainWithEveryMessage() {
        // Each message may wait six times and needs two waits.
        Pair pair = connected(receiverNotReady(6, Duration.ofMillis(163)));
        // The first message needs no wait, because first calls may take longer than that.
        pair.there().receive(99);
        assertThat(pair.here().collect(1, 1)).isEmpty();
        pair.here().post(Work.send(99));
        good(pair.here().one(), 99, CompletionOpcode.SEND);
        good(pair.there().one(), 99, CompletionOpcode.RECEIVE);
        for (int i = 0; i < 6; i++) {
            pair.here().post(Work.send(i));
            assertThat(pair.here().collect(1, 200)).isEmpty();
            pair.there().receive(100 + i);
            good(pair.here().one(), i, CompletionOpcode.SEND);
            good(pair.there().one(), 100 + i, CompletionOpcode.RECEIVE);
        }
    }

    @Test
    void affectsWriteWithImmediateButNotWriteAndRead() {
        Pair pair = connected(receiverNotReady(0, TIMER));
        EndMemory source = here().allocate(8, everything());
        EndMemory target = there().allocate(8, everything());
        pair.here()
                .post(
                        Work.write(1, target.remote(), source.piece(0, 8)),
                        Work.read(2, target.remote(), source.piece(0, 8)),
                        Work.fetchAndAdd(3, target.remote(), 1, source.piece(0, 8)));
        good(pair.here().one(), 1, CompletionOpcode.WRITE);
        good(pair.here().one(), 2, CompletionOpcode.READ);
        good(pair.here().one(), 3, CompletionOpcode.FETCH_AND_ADD);
        pair.here().post(Work.writeImmediate(4, target.remote(), 1, source.piece(0, 8)));
        failed(pair.here().one(), 4, WorkStatus.RECEIVER_NOT_READY_EXCEEDED);
    }

    @Test
    void delaysLaterRequests() {
        Pair pair = connected(receiverNotReady(7, SHORTEST));
        EndMemory source = here().allocate(8, everything());
        EndMemory target = there().allocate(8, everything());
        source.setLong(0, 1);
        pair.here().post(Work.send(1), Work.write(2, target.remote(), source.piece(0, 8)));
        assertThat(pair.here().collect(1, 50)).isEmpty();
        assertThat(target.getLong(0)).as("the WRITE waits behind the SEND").isZero();
        pair.there().receive(3);
        good(pair.here().one(), 1, CompletionOpcode.SEND);
        good(pair.here().one(), 2, CompletionOpcode.WRITE);
        assertThat(target.getLong(0)).isEqualTo(1);
    }

    @Test
    void doesNotDelayTheOtherDirectionOrOtherQueuePairs() {
        Pair stuck = connected(receiverNotReady(7, SHORTEST));
        Pair free = connected();
        stuck.here().receive(5);
        stuck.here().post(Work.send(1));
        stuck.there().post(Work.send(2));
        good(stuck.there().one(), 2, CompletionOpcode.SEND);
        good(stuck.here().one(), 5, CompletionOpcode.RECEIVE);
        free.there().receive(6);
        free.here().post(Work.send(7));
        good(free.here().one(), 7, CompletionOpcode.SEND);
        stuck.there().receive(3);
        good(stuck.here().one(), 1, CompletionOpcode.SEND);
    }

    @Test
    void theMessageArrivesEvenIfTheSenderNeverPolls() {
        Pair pair = connected(receiverNotReady(7, SHORTEST));
        EndMemory source = here().allocate(8, everything());
        EndMemory target = there().allocate(8, everything());
        source.setLong(0, 99);
        pair.here().post(Work.send(1, source.piece(0, 8)));
        pair.there().receive(2, target.piece(0, 8));
        good(pair.there().one(), 2, CompletionOpcode.RECEIVE);
        assertThat(target.getLong(0)).isEqualTo(99);
        good(pair.here().one(), 1, CompletionOpcode.SEND);
    }

    @Test
    void aSenderThatWaitsCanBeClosed() {
        Pair pair = pair(Spec.usual()).connect(receiverNotReady(7, LONGEST));
        pair.here().post(Work.send(1));
        // Longer than a slow network needs to deliver the message, shorter than the 655 ms until the next retry: data
        // in
        // flight when its sender closes still arrives.
        assertThat(pair.here().collect(1, 400)).isEmpty();
        pair.here().close();
        pair.there().receive(2);
        assertThat(pair.there().collect(1, 100)).isEmpty();
    }
}
