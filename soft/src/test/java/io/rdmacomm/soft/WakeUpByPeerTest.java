package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.mapped.CompletionFields;
import io.rdmacomm.soft.mapped.CompletionProducer;
import io.rdmacomm.soft.mapped.CompletionRing;
import io.rdmacomm.soft.mapped.ReceiveTaker;
import io.rdmacomm.verbs.AsyncEvent;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SharedReceiveQueue;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Who sleeps until a peer on this host tells of a completion is woken, even if the peer's engine stalls or the peer
/// dies.
class WakeUpByPeerTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    /// More messages than a socket takes whose other end is not read.
    private static final int MANY = 1_000;

    private final Arena arena = Arena.ofShared();
    private final Device device = Soft.device("soft1=127.0.0.1");
    private final Completions completions = Completions.create(arena, 4);
    private Context here;
    private Context there;
    private CompletionChannel channel;
    private CompletionQueue queue;
    private QueuePair pair;
    private QueuePair peer;
    private CompletionQueue theirQueue;

    /// Connects two queue pairs; the one here gives events.
    @BeforeEach
    void connect() {
        here = device.open();
        there = device.open();
        channel = here.createCompletionChannel();
        queue = queue(channel);
        theirQueue = there.createCompletionQueue(CompletionQueueOptions.ofCapacity(16));
        pair = pair(here, queue);
        peer = pair(there, theirQueue);
        pair.connect(peer.info(), ConnectionOptions.defaults());
        peer.connect(pair.info(), ConnectionOptions.defaults());
    }

    private CompletionQueue queue(CompletionChannel of) {
        return here.createCompletionQueue(CompletionQueueOptions.ofCapacity(16).withChannel(of));
    }

    private static QueuePair pair(Context context, CompletionQueue queue) {
        ProtectionDomain domain = context.allocateProtectionDomain();
        return domain.createQueuePair(QueuePairOptions.reliable(queue));
    }

    @AfterEach
    void close() {
        here.close();
        there.close();
        arena.close();
    }

    /// Waits until the engine of `here` has done everything that it was asked before.
    private void awaitEngine() throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        Soft.of(here).engine().execute(done::countDown);
        assertThat(done.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    /// The dead peer may have served any queue, also one that looks empty because of a slot that it claimed.
    @Test
    void theDeathOfAPeerWakesAllWaitersOnceAndNobodyElse() throws InterruptedException {
        CompletionChannel ofOther = here.createCompletionChannel();
        CompletionQueue other = queue(ofOther);
        CompletionChannel ofUnarmed = here.createCompletionChannel();
        queue(ofUnarmed);
        other.armSolicited();
        there.close();
        assertThat(ofOther.awaitEvent(TIMEOUT)).isEqualTo(other);
        other.acknowledge(1);
        awaitEngine();
        assertThat(ofOther.awaitEvent(Duration.ZERO)).isNull();
        assertThat(ofUnarmed.awaitEvent(Duration.ZERO)).isNull();
        assertThat(channel.awaitEvent(Duration.ZERO)).as("not armed").isNull();
        other.armSolicited();
        assertThat(Soft.of(other).ring().isArmed()).isTrue();
    }

    /// A message that does not fit now is sent when the peer's engine continues, and no thread waits for that.
    @Test
    void aStalledEngineGetsItsMessagesLater() throws InterruptedException {
        CountDownLatch stalled = new CountDownLatch(1);
        CountDownLatch resume = new CountDownLatch(1);
        Soft.of(here).engine().execute(() -> {
            stalled.countDown();
            awaitQuietly(resume);
        });
        assertThat(stalled.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        try {
            for (int i = 0; i < MANY; i++) {
                Soft.of(there).network().regionGone();
            }
            pair.post(ReceiveBatch.create(arena, 1, 1).receive(7));
            queue.arm();
            peer.post(SendBatch.create(arena, 1, 1).send(1).signaled());
            assertThat(Soft.of(queue).ring().isArmed())
                    .as("the peer has announced it")
                    .isFalse();
        } finally {
            resume.countDown();
        }
        assertThat(channel.awaitEvent(TIMEOUT)).isEqualTo(queue);
        queue.acknowledge(1);
        assertThat(queue.poll(completions)).isEqualTo(1);
        assertThat(completions.status(0)).isEqualTo(WorkStatus.SUCCESS);
        // The connection is as good as new.
        pair.post(ReceiveBatch.create(arena, 1, 1).receive(8));
        queue.arm();
        peer.post(SendBatch.create(arena, 1, 1).send(2).signaled());
        assertThat(channel.awaitEvent(TIMEOUT)).isEqualTo(queue);
        queue.acknowledge(1);
    }

    /// A peer that takes the receive which leaves too few disarms the limit, then tells: here it dies in between, or
    /// before.
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aPeerThatDiesBeforeItTellsOfALimitLeavesNobodyWaiting(boolean disarmed) throws InterruptedException {
        SharedReceiveQueue receives = sharedReceives();
        ReceiveTaker taker = Soft.of(receives).ring().taker();
        taker.take(taker.head());
        if (disarmed) {
            assertThat(taker.crossedLimit()).isTrue();
        }
        there.close();
        assertThat(event(AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED).resource())
                .isEqualTo(receives);
        awaitEngine();
        assertThat(others(AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED)).isZero();
        assertThat(receives.query().limit()).isZero();
    }

    @Test
    void aLimitThatWasToldIsNotToldAgainWhenThePeerDies() throws InterruptedException {
        SharedReceiveQueue receives = sharedReceives();
        SharedReceiveQueue untouched = sharedReceives();
        ReceiveTaker taker = Soft.of(receives).ring().taker();
        taker.take(taker.head());
        assertThat(taker.crossedLimit()).isTrue();
        Soft.of(here)
                .engine()
                .execute(() ->
                        Soft.of(here).objects().onLimit((int) Soft.of(receives).handle()));
        event(AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED);
        there.close();
        event(AsyncEventType.QUEUE_PAIR_FATAL);
        awaitEngine();
        assertThat(others(AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED)).isZero();
        assertThat(untouched.query().limit()).isEqualTo(2);
    }

    private SharedReceiveQueue sharedReceives() {
        SharedReceiveQueue receives =
                pair.protectionDomain().createSharedReceiveQueue(SharedReceiveQueueOptions.ofDepth(4));
        receives.post(ReceiveBatch.create(arena, 2, 1).receive(1).receive(2));
        receives.armLimit(2);
        return receives;
    }

    /// A peer that finds a completion queue full notes that in it, then tells: here it dies in between.
    @Test
    void aPeerThatDiesBeforeItTellsOfAnOverrunLeavesNobodyWaiting() throws InterruptedException {
        CompletionQueue full = queue(channel);
        QueuePair served = pair(here, full);
        served.connect(
                new QueuePairInfo(1, 0, Soft.of(here).lid(), Soft.of(here).queryGid(1, 0), PathMtu.MTU_4096));
        overrun(full);
        there.close();
        assertThat(event(AsyncEventType.COMPLETION_QUEUE_ERROR).resource()).isEqualTo(full);
        awaitEngine();
        assertThat(served.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(others(AsyncEventType.COMPLETION_QUEUE_ERROR)).isZero();
    }

    @Test
    void anOverrunThatWasToldIsNotToldAgainWhenThePeerDies() throws InterruptedException {
        CompletionQueue full = queue(channel);
        overrun(full);
        Soft.of(here)
                .engine()
                .execute(() -> Soft.of(here)
                        .objects()
                        .onOverrun(CompletionRing.number(
                                Soft.of(here).control().memory(),
                                Soft.of(full).ring().offset())));
        event(AsyncEventType.COMPLETION_QUEUE_ERROR);
        there.close();
        event(AsyncEventType.QUEUE_PAIR_FATAL);
        awaitEngine();
        assertThat(others(AsyncEventType.COMPLETION_QUEUE_ERROR)).isZero();
    }

    private void overrun(CompletionQueue full) {
        CompletionProducer producer =
                Soft.of(full).ring().producer(Soft.of(there).lid());
        CompletionFields fields = new CompletionFields();
        fields.set(1, 0, 0, 0, 1);
        long result = CompletionRing.PUSHED;
        for (int i = 0; result != CompletionRing.OVERRUN; i++) {
            assertThat(i).isLessThan(MANY);
            result = producer.push(Soft.of(here).control().memory(), 0, fields);
        }
    }

    private AsyncEvent event(AsyncEventType type) throws InterruptedException {
        AsyncEvent event;
        do {
            event = here.awaitAsyncEvent(TIMEOUT);
            assertThat(event).as("an event %s", type).isNotNull();
        } while (event.type() != type);
        return event;
    }

    /// How many events of this type are there now.
    private int others(AsyncEventType type) throws InterruptedException {
        int found = 0;
        for (AsyncEvent each = here.awaitAsyncEvent(Duration.ZERO);
                each != null;
                each = here.awaitAsyncEvent(Duration.ZERO)) {
            found += each.type() == type ? 1 : 0;
        }
        return found;
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
