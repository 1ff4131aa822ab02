package io.rdmacomm.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What siw leaves in the queues of a failed queue pair ends all the same, once.
class LateFlushTest extends ConnectionCase {
    private static final int DEPTH = 8;
    private static final int EINVAL = 22;

    private final Arena arena = Arena.ofShared();
    private CompletionChannel channel;
    private MemoryRegion region;
    private QueuePair pair;

    @BeforeEach
    void connect() throws InterruptedException {
        useIwarp();
        channel = context.createCompletionChannel();
        queue = context.createCompletionQueue(
                CompletionQueueOptions.ofCapacity(16).withChannel(channel));
        region = domain.allocate(64, AccessFlag.allRemote());
        pair = domain.createQueuePair(
                QueuePairOptions.reliable(queue).withSizes(new QueueSizes(DEPTH, DEPTH, 1, 1, 0)));
        manager.connect(PEER, pair, DEFAULTS, LONG);
        fake.log();
    }

    @AfterEach
    void free() {
        arena.close();
    }

    private SendBatch batch() {
        return SendBatch.create(arena, DEPTH, 1);
    }

    private SendBatch write(SendBatch batch, long id) {
        return batch.write(id, region.address(), region.remoteKey()).with(region, 8, 8);
    }

    private SendBatch read(SendBatch batch, long id) {
        return batch.read(id, region.address(), region.remoteKey()).with(region, 8, 8);
    }

    private ReceiveBatch receives(long... ids) {
        ReceiveBatch batch = ReceiveBatch.create(arena, ids.length, 1);
        for (long id : ids) {
            batch.receive(id).with(region, 0, 8);
        }
        return batch;
    }

    private void fail() {
        pair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
    }

    /// The numbers of what is flushed; polls for two at a time.
    private List<Long> flushed() {
        Completions room = Completions.create(arena, 2);
        List<Long> ids = new ArrayList<>();
        for (int count = queue.poll(room); count > 0; count = queue.poll(room)) {
            for (int i = 0; i < count; i++) {
                assertThat(room.status(i)).isEqualTo(WorkStatus.FLUSHED);
                assertThat(room.queuePairNumber(i)).isEqualTo(pair.number());
                ids.add(room.workId(i));
            }
        }
        return ids;
    }

    @Test
    void whatIsPostedInErrorIsFlushedAndDoesNotGoToTheDevice() {
        fail();
        fake.log();
        assertThat(pair.post(read(write(write(batch(), 1), 2).signaled(), 3))).isEqualTo(3);
        assertThat(flushed()).containsExactly(1L, 2L, 3L);
        assertThat(pair.post(write(batch(), 4))).isEqualTo(1);
        assertThat(flushed()).containsExactly(4L);
        assertThat(fake.log()).noneMatch(line -> line.startsWith("post_send"));
    }

    @Test
    void thereIsRoomForAsManyAsTheQueueHoldsUntilTheyArePolled() {
        fail();
        int depth = pair.sizes().sends();
        for (int i = 0; i < depth; i++) {
            assertThat(pair.post(write(batch(), i))).isEqualTo(1);
        }
        assertThat(pair.post(write(batch(), 99))).isZero();
        assertThat(flushed()).hasSize(depth);
        assertThat(pair.post(write(batch(), 100))).isEqualTo(1);
        assertThat(flushed()).containsExactly(100L);
    }

    @Test
    void whatTheDeviceKeepsIsFlushedOnceAlsoWhenTheDeviceDoesSoLater() {
        pair.post(write(batch(), 1).signaled());
        fake.keep(true);
        pair.post(read(write(write(batch(), 2).signaled(), 3), 4).signaled());
        Completions room = Completions.create(arena, 8);
        assertThat(queue.poll(room)).isEqualTo(1);
        assertThat(room.isSuccess(0)).isTrue();
        assertThat(queue.poll(room)).as("the queue pair is well").isZero();
        fail();
        // 3 may have ended silently.
        assertThat(flushed()).containsExactly(2L, 4L);
        fake.flushKept(1);
        assertThat(flushed()).isEmpty();
    }

    @Test
    void whatTheDeviceFlushesInTimeIsNotFlushedAgain() {
        fake.keep(true);
        pair.post(read(write(write(batch(), 1), 1).signaled(), 2).signaled());
        fake.flushKept(1);
        pair.post(write(batch(), 1).signaled());
        fail();
        assertThat(flushed()).as("the last by ourselves").containsExactly(1L, 1L, 2L, 1L);
        fake.flushKept(1);
        assertThat(flushed()).isEmpty();
    }

    @Test
    void aReadMayBeOvertakenAnyNumberOfTimes() {
        fake.keep(true);
        pair.post(read(batch(), 7).signaled());
        fake.keep(false);
        Completions room = Completions.create(arena, 8);
        for (int i = 0; i < 10 * DEPTH; i++) {
            assertThat(pair.post(write(write(batch(), 6), 7).signaled())).isEqualTo(2);
            assertThat(queue.poll(room)).isEqualTo(1);
        }
        fail();
        assertThat(flushed()).as("the READ").containsExactly(7L);
    }

    @Test
    void readsThatWereOvertakenKeepTheirPlacesInTheQueue() {
        Completions room = Completions.create(arena, 8);
        int depth = pair.sizes().sends();
        for (int i = 0; i < 3; i++) {
            fake.keep(true);
            assertThat(pair.post(read(batch(), 100 + i).signaled())).isEqualTo(1);
            fake.keep(false);
            assertThat(pair.post(write(batch(), 1).signaled())).isEqualTo(1);
            assertThat(queue.poll(room)).isEqualTo(1);
        }
        fake.keep(true);
        for (int i = 3; i < depth; i++) {
            assertThat(pair.post(write(batch(), i).signaled())).isEqualTo(1);
        }
        assertThat(pair.post(write(batch(), depth).signaled())).isZero();
        fake.flushKept(1);
        assertThat(flushed()).startsWith(100L, 101L, 102L, 3L).hasSize(depth);
    }

    @Test
    void aRequestThatTheDeviceRefusesIsNotFlushed() {
        fake.keep(true);
        fake.refuse(1, -12);
        assertThat(pair.post(write(write(batch(), 1).signaled(), 2).signaled())).isEqualTo(1);
        fail();
        assertThat(flushed()).containsExactly(1L);
    }

    @Test
    void aDoorbellThatFailsMeansThatTheConnectionEnds() {
        fake.keep(true);
        fake.refuse(-1, -1);
        assertThat(pair.post(write(batch(), 1).signaled())).isEqualTo(1);
        assertThat(pair.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(flushed()).containsExactly(1L);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whoWaitsForAnEventIsWoken(boolean virtual) throws Exception {
        fake.keep(true);
        pair.post(write(batch(), 1).signaled());
        queue.arm(false);
        FutureTask<CompletionQueue> waiter = start(virtual, () -> channel.awaitEvent(LONG));
        fake.report("id0", DISCONNECTED, 0);
        assertThat(waiter.get()).isSameAs(queue);
        assertThat(flushed()).containsExactly(1L);
        assertThat(pair.post(write(batch(), 2))).isEqualTo(1);
        assertThat(channel.awaitEvent(Duration.ofMillis(1))).as("not armed").isNull();
        assertThat(flushed()).containsExactly(2L);
        queue.arm(false);
        assertThat(pair.post(write(batch(), 3))).isEqualTo(1);
        assertThat(channel.awaitEvent(LONG)).isSameAs(queue);
        assertThat(flushed()).containsExactly(3L);
        queue.arm(false);
        assertThat(pair.post(receives(4))).isEqualTo(1);
        assertThat(channel.awaitEvent(LONG)).isSameAs(queue);
        assertThat(flushed()).containsExactly(4L);
        queue.acknowledge(3);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anEventIsNotTakenForACallToWakeUp(boolean virtual) throws Exception {
        fail();
        for (int i = 0; i < 500; i++) {
            queue.arm(false);
            FutureTask<CompletionQueue> waiter = start(virtual, () -> channel.awaitEvent(LONG));
            for (int spins = 0; spins < i * 100; spins++) {
                Thread.onSpinWait();
            }
            assertThat(pair.post(receives(i))).isEqualTo(1);
            assertThat(waiter.get()).as("round " + i).isSameAs(queue);
            assertThat(flushed()).containsExactly((long) i);
        }
        queue.acknowledge(500);
    }

    @Test
    void aReadThatTheDeviceFlushesTwiceEndsOnce() {
        fake.keep(true);
        pair.post(read(write(read(batch(), 1).signaled(), 2).signaled(), 3).signaled());
        fake.flushKept(2);
        assertThat(flushed()).containsExactly(1L, 2L, 3L);
    }

    @Test
    void theFailureOfASilentReadIsToldAsOftenAsItComes() {
        fake.keep(true);
        pair.post(read(batch(), 1));
        fake.flushKept(1);
        assertThat(flushed()).containsExactly(1L);
    }

    @Test
    void receivesThatArePostedInErrorAreFlushedAndDoNotGoToTheDevice() {
        fail();
        fake.log();
        assertThat(pair.post(receives(1, 2, 3))).isEqualTo(3);
        assertThat(flushed()).containsExactly(1L, 2L, 3L);
        assertThat(fake.log()).noneMatch(line -> line.startsWith("post_recv"));
        int depth = pair.sizes().receives();
        for (int i = 0; i < depth; i++) {
            assertThat(pair.post(receives(i))).isEqualTo(1);
        }
        assertThat(pair.post(receives(99))).as("the queue is full").isZero();
        assertThat(flushed()).hasSize(depth);
        assertThat(pair.post(receives(100))).isEqualTo(1);
        assertThat(flushed()).containsExactly(100L);
    }

    @Test
    void receivesThatTheDeviceKeepsAreFlushedOnceAlsoWhenTheDeviceDoesSoLater() {
        fake.keep(true);
        pair.post(receives(1));
        pair.post(receives(2));
        fake.flushKept(1);
        pair.post(receives(3));
        pair.post(receives(4));
        fail();
        assertThat(flushed()).as("the last two by ourselves").containsExactly(1L, 2L, 3L, 4L);
        fake.flushKept(1);
        assertThat(flushed()).isEmpty();
    }

    @Test
    void aReceiveThatTheDeviceRefusesIsNotFlushed() {
        fake.refuse(1, -12);
        assertThat(pair.post(receives(1, 2))).isEqualTo(1);
        fail();
        assertThat(flushed()).containsExactly(1L);
    }

    @Test
    void aQueuePairThatIsClosedLeavesNothing() {
        fake.keep(true);
        pair.post(write(batch(), 1).signaled());
        pair.post(receives(2));
        fail();
        pair.close();
        assertThat(flushed()).isEmpty();
    }

    @Test
    void completionsOfAClosedQueuePairGoWithItAndThoseOfOthersStayInOrder() throws InterruptedException {
        QueuePair other = domain.createQueuePair(
                QueuePairOptions.reliable(queue).withSizes(new QueueSizes(DEPTH, DEPTH, 1, 1, 0)));
        manager.connect(PEER, other, DEFAULTS, LONG);
        for (int i = 1; i <= 3; i++) {
            pair.post(write(batch(), i).signaled());
            other.post(write(batch(), 10 + i).signaled());
        }
        other.close();
        pair.post(write(batch(), 4).signaled());
        other = domain.createQueuePair(
                QueuePairOptions.reliable(queue).withSizes(new QueueSizes(DEPTH, DEPTH, 1, 1, 0)));
        other.close();
        Completions room = Completions.create(arena, 3);
        List<Long> ids = new ArrayList<>();
        for (int count = queue.poll(room); count > 0; count = queue.poll(room)) {
            for (int i = 0; i < count; i++) {
                assertThat(room.isSuccess(i)).isTrue();
                ids.add(room.workId(i));
            }
        }
        assertThat(ids).containsExactly(1L, 2L, 3L, 4L);
    }

    /// Nothing keeps the poster of such a queue pair and what fails it apart.
    private void connectWithoutLocks() throws InterruptedException {
        pair = domain.createQueuePair(QueuePairOptions.reliable(queue)
                .withSizes(new QueueSizes(DEPTH, DEPTH, 1, 1, 0))
                .withSingleThreaded(true));
        manager.connect(PEER, pair, DEFAULTS, LONG);
    }

    @Test
    void whatTheDeviceRefusesWhileTheQueuePairFailsIsToldOnce() throws Exception {
        pair.close();
        connectWithoutLocks();
        fake.refuse(0, EINVAL);
        fake.stall(true);
        SendBatch send = write(batch(), 1).signaled();
        FutureTask<Integer> poster = start(false, () -> pair.post(send));
        try {
            awaitLog("post_send");
            fail();
            assertThat(flushed()).containsExactly(1L);
        } finally {
            fake.stall(false);
        }
        assertThat(poster.get()).as("it has ended, so it was posted").isEqualTo(1);
        assertThat(flushed()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatIsPostedWhileTheQueuePairFailsIsFlushedAndWakesWhoWaits(boolean receive) throws Exception {
        pair.close();
        for (int i = 0; i < 100; i++) {
            fake.keep(false);
            connectWithoutLocks();
            fake.keep(true);
            queue.arm(false);
            SendBatch send = write(batch(), i).signaled();
            ReceiveBatch one = receives(i);
            CountDownLatch begin = new CountDownLatch(1);
            FutureTask<Integer> poster = start(false, () -> {
                begin.await();
                return receive ? pair.post(one) : pair.post(send);
            });
            begin.countDown();
            for (int spins = i * 50; spins > 0; spins--) {
                Thread.onSpinWait();
            }
            fail();
            assertThat(channel.awaitEvent(LONG)).as("round " + i).isSameAs(queue);
            assertThat(poster.get()).isEqualTo(1);
            assertThat(flushed()).as("round " + i).containsExactly((long) i);
            fake.flushKept(1);
            assertThat(flushed()).as("round " + i).isEmpty();
            queue.acknowledge(1);
            pair.close();
            fake.log();
        }
    }
}
