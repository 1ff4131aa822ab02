package io.rdmacomm.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.AsyncEvent;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.RdmaInterruptedException;
import io.rdmacomm.verbs.SendBatch;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Completion events and asynchronous events, which threads wait for on file descriptors.
class EventTest {
    private static final Duration LONG = Duration.ofMinutes(1);

    private final Arena arena = Arena.ofShared();
    private FakeVerbs fake;
    private Context context;
    private CompletionChannel channel;
    private CompletionQueue queue;
    private QueuePair pair;
    private SendBatch batch;

    @BeforeAll
    static void needsCompiler() {
        CCompiler.require();
    }

    @BeforeEach
    void open() {
        fake = FakeVerbs.fresh();
        context = fake.open();
        channel = context.createCompletionChannel();
        queue = context.createCompletionQueue(
                CompletionQueueOptions.ofCapacity(16).withChannel(channel));
        ProtectionDomain domain = context.allocateProtectionDomain();
        MemoryRegion region = domain.allocate(64, AccessFlag.allRemote());
        pair = domain.createQueuePair(QueuePairOptions.reliable(queue));
        pair.connect(FakeVerbs.PEER);
        batch = SendBatch.create(arena, 1, 1);
        batch.write(1, region.address(), region.remoteKey()).with(region, 8, 8).signaled();
        fake.log();
    }

    @AfterEach
    void close() {
        context.close();
        arena.close();
    }

    private static <T> FutureTask<T> start(boolean virtual, Callable<T> call) {
        FutureTask<T> task = new FutureTask<>(call);
        var threads = virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
        threads.start(task);
        return task;
    }

    @Test
    void looksOnceWithoutWaiting() throws InterruptedException {
        assertThat(channel.awaitEvent(Duration.ZERO)).isNull();
        assertThat(channel.awaitEvent(Duration.ofMillis(1))).isNull();
        queue.arm();
        pair.post(batch);
        assertThat(channel.awaitEvent(Duration.ZERO)).isSameAs(queue);
        assertThat(queue.unacknowledged()).isEqualTo(1);
        assertThat(channel.awaitEvent(Duration.ZERO)).isNull();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void waitsForACompletion(boolean virtual) throws Exception {
        for (int i = 0; i < 50; i++) {
            queue.arm();
            FutureTask<CompletionQueue> waiter = start(virtual, () -> channel.awaitEvent(LONG));
            pair.post(batch);
            assertThat(waiter.get()).isSameAs(queue);
            queue.acknowledge(1);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aWakeUpEndsOneWait(boolean virtual) throws Exception {
        for (int i = 0; i < 50; i++) {
            FutureTask<CompletionQueue> waiter = start(virtual, () -> channel.awaitEvent(LONG));
            channel.wakeUp();
            assertThat(waiter.get()).isNull();
        }
        channel.wakeUp();
        queue.arm();
        pair.post(batch);
        assertThat(channel.awaitEvent(LONG)).as("it loses no event").isSameAs(queue);
        assertThat(channel.awaitEvent(Duration.ofMillis(1))).isNull();
        FutureTask<CompletionQueue> waiter = start(virtual, () -> channel.awaitEvent(LONG));
        queue.arm();
        pair.post(batch);
        assertThat(waiter.get()).isSameAs(queue);
        queue.acknowledge(2);
    }

    @Test
    void aHundredVirtualThreadsWaitWithoutTheirCarriers() throws Exception {
        List<FutureTask<CompletionQueue>> waiters = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            waiters.add(start(true, () -> channel.awaitEvent(LONG)));
        }
        // There are fewer carriers than waiting threads: this one runs only if they released theirs.
        assertThat(start(true, () -> "ran").get()).isEqualTo("ran");
        for (int i = 0; i < 100; i++) {
            queue.arm();
            pair.post(batch);
        }
        for (FutureTask<CompletionQueue> waiter : waiters) {
            assertThat(waiter.get()).isSameAs(queue);
        }
        assertThat(queue.unacknowledged()).isEqualTo(100);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void closingWakesAWaitingThread(boolean virtual) {
        FutureTask<CompletionQueue> waiter = start(virtual, () -> channel.awaitEvent(LONG));
        FutureTask<AsyncEvent> other = start(virtual, () -> context.awaitAsyncEvent(LONG));
        context.close();
        assertThatThrownBy(waiter::get)
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(IllegalStateException.class);
        assertThatThrownBy(other::get).hasCauseInstanceOf(IllegalStateException.class);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void interruptingWakesAWaitingThread(boolean virtual) {
        FutureTask<CompletionQueue> waiter = start(virtual, () -> {
            Thread.currentThread().interrupt();
            return channel.awaitEvent(LONG);
        });
        assertThatThrownBy(waiter::get).hasCauseInstanceOf(RdmaInterruptedException.class);
    }

    @Test
    void eventsAreAcknowledgedWhateverTheProgramDoes() throws InterruptedException {
        queue.arm();
        pair.post(batch);
        assertThat(channel.awaitEvent(LONG)).isSameAs(queue);
        queue.arm();
        pair.post(batch);
        pair.close();
        fake.log();
        queue.close();
        // The second event was never read.
        assertThat(fake.log()).containsExactly("destroy_cq cq2 unacknowledged=1");
    }

    @Test
    void deliversAsynchronousEvents() throws InterruptedException {
        assertThat(context.awaitAsyncEvent(Duration.ZERO)).isNull();
        fake.raise(9, "", 1);
        assertThat(context.awaitAsyncEvent(LONG)).isEqualTo(new AsyncEvent(AsyncEventType.PORT_ACTIVE, null, 1));
        fake.raise(4, "qp5", 0);
        assertThat(context.awaitAsyncEvent(LONG))
                .isEqualTo(new AsyncEvent(AsyncEventType.COMMUNICATION_ESTABLISHED, pair, 0));
        fake.raise(0, "cq2", 0);
        assertThat(context.awaitAsyncEvent(LONG))
                .isEqualTo(new AsyncEvent(AsyncEventType.COMPLETION_QUEUE_ERROR, queue, 0));
        fake.raise(8, "", 0);
        assertThat(context.awaitAsyncEvent(LONG)).isEqualTo(new AsyncEvent(AsyncEventType.DEVICE_FATAL, null, 0));
        fake.raise(99, "", 3);
        assertThat(context.awaitAsyncEvent(LONG)).isEqualTo(new AsyncEvent(AsyncEventType.UNKNOWN, null, 0));
        assertThat(fake.log())
                .as("each acknowledged once")
                .containsExactly("ack_async 9", "ack_async 4", "ack_async 0", "ack_async 8", "ack_async 99");
    }

    @Test
    void failsWhenTheDeviceIsGone() {
        fake.fail("ibv_get_async_event", 5);
        assertThatThrownBy(() -> context.awaitAsyncEvent(LONG)).hasMessageContainingAll("EIO", "may have been removed");
        fake.fail("ibv_get_cq_event", 5);
        assertThatThrownBy(() -> channel.awaitEvent(LONG)).hasMessageContainingAll("EIO", "may have been removed");
    }
}
