package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.Deviation;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// A peer that does not answer: not yet, no longer, or never.
class RetryTest extends ContractCase {
    private static final Duration TIMEOUT = Duration.ofMillis(67);
    /// For peers that answer, even on a busy machine.
    private static final Duration LONG_TIMEOUT = Duration.ofMillis(536);

    private static final int RETRIES = 2;
    private static final ConnectionOptions SHORT = ConnectionOptions.defaults().withTimeout(TIMEOUT, RETRIES);
    private static final ConnectionOptions LONG = ConnectionOptions.defaults().withTimeout(LONG_TIMEOUT, RETRIES);

    private void exhausted(Pair pair) {
        exhausted(pair, TIMEOUT.toNanos());
    }

    private void exhausted(Pair pair, long timeoutNanos) {
        EndMemory source = here().allocate(8, everything());
        pair.here().receive(10);
        long start = System.nanoTime();
        pair.here().post(Work.send(1, source.piece(0, 8)), Work.send(2).silent(), Work.send(3));
        failed(pair.here().one(), 1, WorkStatus.RETRY_EXCEEDED);
        long took = System.nanoTime() - start;
        assertThat(took)
                .as("timeout times retries")
                .isBetween(timeoutNanos * RETRIES * 8 / 10, timeoutNanos * (RETRIES + 1) * 3 + 5_000_000_000L);
        flushed(pair.here().drain(3), List.of(2L, 3L), List.of(10L));
        pair.here().awaitState(QueuePairState.ERROR);
    }

    private Pair misled(UnaryOperator<QueuePairInfo> lie) {
        Pair pair = pair(Spec.usual());
        pair.there().connect(pair.here().info(), SHORT);
        pair.there().receive(100);
        pair.here().connect(lie.apply(pair.there().info()), SHORT);
        return pair;
    }

    @Test
    void aMissingPeerExhaustsTheRetries() {
        Pair pair = pair(Spec.usual());
        pair.here().connect(pair.there().info(), SHORT);
        exhausted(pair);
    }

    @Test
    void aPeerInInitDoesNotAnswer() {
        Pair pair = pair(Spec.usual());
        pair.there().initialize(SHORT);
        pair.there().receive(100);
        pair.here().connect(pair.there().info(), SHORT);
        exhausted(pair);
        assertThat(pair.there().poll()).isEmpty();
    }

    @Test
    void aWrongNumberExhaustsTheRetries() {
        exhausted(misled(info -> new QueuePairInfo(
                info.number() ^ 0x555, info.packetSequenceNumber(), info.lid(), info.gid(), info.mtu())));
    }

    @Test
    void aWrongPlaceExhaustsTheRetries() {
        Pair misled = misled(info ->
                new QueuePairInfo(info.number(), info.packetSequenceNumber(), info.lid() ^ 1, info.gid(), info.mtu()));
        if (has(Deviation.NO_LIDS)) {
            misled.here().post(Work.send(1));
            good(misled.here().one(), 1, CompletionOpcode.SEND);
            good(misled.there().one(), 100, CompletionOpcode.RECEIVE);
        } else {
            exhausted(misled);
        }
    }

    @Test
    void aWrongGidExhaustsTheRetries() {
        UnaryOperator<QueuePairInfo> elsewhere = info -> new QueuePairInfo(
                info.number(),
                info.packetSequenceNumber(),
                info.lid(),
                new Gid(info.gid().high(), info.gid().low() ^ 0x40),
                info.mtu());
        if (has(Deviation.UNREACHABLE_IS_REFUSED)) {
            assertThatThrownBy(() -> misled(elsewhere))
                    .isInstanceOfSatisfying(
                            VerbException.class,
                            rejected -> assertThat(rejected.errno()).isEqualTo(Errno.ETIMEDOUT));
        } else {
            exhausted(misled(elsewhere));
        }
    }

    @Test
    void aWrongSequenceNumberExhaustsTheRetries() {
        Pair pair = pair(Spec.usual());
        QueuePairInfo mine = pair.here().info();
        pair.there()
                .connect(
                        new QueuePairInfo(
                                mine.number(), mine.packetSequenceNumber() ^ 0x800, mine.lid(), mine.gid(), mine.mtu()),
                        SHORT);
        pair.there().receive(100);
        pair.here().connect(pair.there().info(), SHORT);
        if (has(pair.there(), Deviation.OLD_NUMBER_IS_ACKNOWLEDGED)) {
            pair.here().post(Work.send(1));
            assertThat(pair.here().one().status()).isIn(WorkStatus.SUCCESS, WorkStatus.RETRY_EXCEEDED);
        } else {
            exhausted(pair);
        }
        assertThat(pair.there().poll()).isEmpty();
    }

    @Tag("slow")
    @Test
    void aPeerThatWasDestroyedExhaustsTheRetries() {
        Pair pair = connected(LONG);
        pair.there().receive(1);
        pair.here().post(Work.send(1));
        good(pair.here().one(), 1, CompletionOpcode.SEND);
        pair.there().close();
        exhausted(pair, LONG_TIMEOUT.toNanos());
    }

    @Test
    void aPeerThatWasResetExhaustsTheRetries() {
        Pair pair = connected(SHORT);
        pair.there().modify(QueuePairState.RESET);
        exhausted(pair);
    }

    @Test
    void aPeerConnectedToAnotherQueuePairDoesNotAnswer() {
        Pair pair = pair(Spec.usual());
        Pair other = pair(Spec.usual());
        pair.there().connect(other.here().info(), SHORT);
        pair.there().receive(100);
        pair.here().connect(pair.there().info(), SHORT);
        exhausted(pair);
        assertThat(pair.there().poll()).isEmpty();
    }

    @Test
    void oneSidedOperationsExhaustTheRetries() {
        Pair pair = pair(Spec.usual());
        EndMemory target = there().allocate(8, everything());
        EndMemory source = here().allocate(8, everything());
        pair.here().connect(pair.there().info(), SHORT);
        pair.here().post(Work.read(1, target.remote(), source.piece(0, 8)));
        failed(pair.here().one(), 1, WorkStatus.RETRY_EXCEEDED);
    }

    @Test
    void aLatePeerIsReached() {
        Pair pair = pair(Spec.usual());
        EndMemory source = here().allocate(8, everything());
        EndMemory target = there().allocate(8, everything());
        source.setLong(0, 31);
        pair.here().connect(pair.there().info(), patient());
        pair.here().post(Work.write(1, target.remote(), source.piece(0, 8)), Work.send(2));
        assertThat(pair.here().collect(1, 200)).isEmpty();
        pair.there().initialize(patient());
        pair.there().receive(3);
        pair.there().readyToReceive(pair.here().info(), patient());
        good(pair.here().one(), 1, CompletionOpcode.WRITE);
        good(pair.here().one(), 2, CompletionOpcode.SEND);
        good(pair.there().one(), 3, CompletionOpcode.RECEIVE);
        assertThat(target.getLong(0)).isEqualTo(31);
    }

    @Test
    void aTimeoutOfZeroWaitsWithoutLimit() {
        ConnectionOptions endless = ConnectionOptions.defaults().withTimeout(ChronoUnit.FOREVER.getDuration(), 0);
        Pair pair = pair(Spec.usual());
        pair.here().connect(pair.there().info(), endless);
        pair.here().post(Work.send(1));
        assertThat(pair.here().collect(1, 500)).isEmpty();
        pair.there().initialize(endless);
        pair.there().receive(2);
        pair.there().readyToReceive(pair.here().info(), endless);
        if (has(Deviation.NO_TIMEOUT_NO_REPEAT)) {
            assertThat(pair.here().collect(1, 500)).isEmpty();
            assertThat(pair.here().state()).isEqualTo(QueuePairState.READY_TO_SEND);
        } else {
            good(pair.here().one(), 1, CompletionOpcode.SEND);
        }
    }

    @Test
    void bothEndsCanConnectInAnyOrderAndSendAtOnce() {
        for (int round = 0; round < 10; round++) {
            Pair pair = pair(Spec.usual());
            if (round % 2 == 0) {
                pair.here().connect(pair.there().info(), patient());
                pair.here().receive(1);
                pair.here().post(Work.send(2));
                pair.there().connect(pair.here().info(), patient());
                pair.there().receive(3);
                pair.there().post(Work.send(4));
            } else {
                pair.there().connect(pair.here().info(), patient());
                pair.there().receive(3);
                pair.there().post(Work.send(4));
                pair.here().connect(pair.there().info(), patient());
                pair.here().receive(1);
                pair.here().post(Work.send(2));
            }
            assertThat(pair.here().drain(2)).allMatch(outcome -> outcome.status() == WorkStatus.SUCCESS);
            assertThat(pair.there().drain(2)).allMatch(outcome -> outcome.status() == WorkStatus.SUCCESS);
            pair.here().close();
            pair.there().close();
        }
    }

    @Test
    void connectingIsQuick() {
        long best = Long.MAX_VALUE;
        for (int i = 0; i < 10 && best > 100; i++) {
            long start = System.nanoTime();
            Pair pair = connected();
            pair.there().receive(1);
            pair.here().post(Work.send(2));
            good(pair.here().one(), 2, CompletionOpcode.SEND);
            best = Math.min(best, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
        }
        System.out.println(fabric + ": created, connected and sent in " + best + " ms");
        assertThat(best).as("ms, the best of ten").isLessThan(2000);
    }
}
