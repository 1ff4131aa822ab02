package io.rdmacomm.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.lifetime.Lifetime;
import io.rdmacomm.verbs.service.OperationLock;
import io.rdmacomm.verbs.spi.CompletionLayout;
import io.rdmacomm.verbs.spi.CompletionQueueDriver;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// Reports completed work (`struct ibv_cq`, ibv_create_cq(3)). Thread-safe, unless it was created single-threaded.
///
/// An overrun breaks the queue: [AsyncEventType#COMPLETION_QUEUE_ERROR] is raised, and its queue pairs enter
/// the error state. Polling throws on devices in software; on many adapters (mlx5) it finds nothing more, and
/// only the event reports the error. The same is true of a device that has failed
/// ([AsyncEventType#DEVICE_FATAL]).
public final class CompletionQueue implements Resource {
    private static final String AWAIT = "wait for completions (rdma_get_send_comp)";
    private static final String MODERATE = "moderate completion queue (ibv_modify_cq)";
    private static final int BINDING = CompletionOpcode.BIND_WINDOW.code();

    private final Context context;
    private final CompletionQueueDriver driver;
    private final Lifetime lifetime;
    private final @Nullable CompletionChannel channel;
    private final @Nullable OperationLock lock;
    private final AtomicInteger unacknowledged = new AtomicInteger();
    private @Nullable QueuePair lastCompleted;
    private int lastNumber;
    /// Whether a thread may be waiting in [#await].
    private volatile boolean awaited;

    CompletionQueue(Context context, CompletionQueueOptions options, CompletionQueueDriver driver) {
        this.context = context;
        this.driver = driver;
        this.lifetime = new Lifetime(this, context.lifetime(), driver, this::release);
        this.channel = options.channel();
        this.lock = options.singleThreaded() ? null : new OperationLock();
    }

    /// The open device that it belongs to.
    public Context context() {
        return context;
    }

    /// The channel that reports its events; null if it is only polled.
    public @Nullable CompletionChannel channel() {
        return channel;
    }

    /// The number of completions it can hold, at least the number requested.
    public int capacity() {
        return driver.capacity();
    }

    /// Reads up to `completions.capacity()` completions (ibv_poll_cq(3)). Never blocks, never allocates.
    ///
    /// When the call returns, this thread sees the data that the completions report.
    ///
    /// @return the number of completions; fewer than the capacity mean that the queue is empty now
    /// @throws VerbException EIO if the queue overran and the device reports that to polling
    public int poll(Completions completions) {
        return poll(completions, completions.capacity());
    }

    /// Whether [#poll(Completions)] would certainly find nothing. Where the device has such a look, as the
    /// software device over shared memory, it costs much less than a poll; other devices always return false.
    /// Suits programs that check many queues. Never blocks. For the thread that polls.
    public boolean isKnownEmpty() {
        return lifetime.isOpen() && driver.isKnownEmpty();
    }

    /// Reads up to `max` completions; see [#poll(Completions)].
    ///
    /// @param max at most the capacity of `completions`
    /// @return the number of completions
    public int poll(Completions completions, int max) {
        if (max > completions.capacity()) {
            throw new IllegalArgumentException(
                    "max is " + max + ", the completions have room for " + completions.capacity());
        }
        OperationLock guard = lock;
        if (guard == null) {
            return pollExclusively(completions, max);
        }
        guard.lock();
        try {
            return pollExclusively(completions, max);
        } finally {
            guard.unlock();
        }
    }

    /// Reads up to `completions.capacity()` completions, and waits for the first one (rdma_get_send_comp(3)).
    /// Blocks; suits virtual threads. For one waiting thread at a time. Its channel must serve no other
    /// queue, because that queue's events would be lost. Closing the queue or the channel ends the wait.
    ///
    /// ```java
    /// int count = queue.await(completions, timeout);
    /// for (int i = 0; i < count; i++) { ... completions.workId(i) ... }
    /// ```
    ///
    /// @param timeout the longest wait; zero to poll
    /// @return the number of completions; 0 after the timeout or [CompletionChannel#wakeUp()]
    /// @throws VerbException EINVAL if the queue has no channel, or another queue uses the channel; EIO as
    ///         [#poll(Completions)]
    /// @throws RdmaInterruptedException if the thread was interrupted; no completion was taken
    /// @throws IllegalStateException if the queue or the channel is closed, or is being closed
    public int await(Completions completions, Duration timeout) {
        int count = poll(completions);
        if (count > 0) {
            return count;
        }
        CompletionChannel events = ownChannel();
        awaited = true;
        try {
            return await(completions, events, timeout.toNanos());
        } finally {
            awaited = false;
        }
    }

    private int await(Completions completions, CompletionChannel events, long nanos) {
        long begin = System.nanoTime();
        // Armed first, then polled, so that completions in between are not missed.
        arm(false);
        int count = poll(completions);
        boolean woken = false;
        for (long left = nanos; count == 0 && left > 0 && !woken; left = nanos - (System.nanoTime() - begin)) {
            CompletionQueue ready = events.awaitEvent(Duration.ofNanos(left));
            woken = ready == null;
            if (ready != null) {
                acknowledge(1);
                arm(false);
            }
            count = poll(completions);
        }
        return count;
    }

    /// The channel, if it serves only this queue.
    private CompletionChannel ownChannel() {
        CompletionChannel events = channel;
        if (events == null) {
            throw new VerbException(AWAIT, Errno.EINVAL, this + " was created without a channel");
        }
        if (events.isShared()) {
            throw new VerbException(
                    AWAIT,
                    Errno.EINVAL,
                    "other queues use the " + events + ", too; give " + this
                            + " its own channel, or wait with awaitEvent");
        }
        return events;
    }

    private int pollExclusively(Completions completions, int max) {
        lifetime.checkOpen();
        MemorySegment segment = completions.segment();
        int count = driver.poll(segment, max);
        completions.size(count);
        if (count > 0) {
            report(segment, count);
        }
        return count;
    }

    /// Reports each completion to its queue pair, which frees the slots of the request or handles its
    /// failure.
    private void report(MemorySegment completions, int count) {
        for (int i = 0; i < count; i++) {
            long at = (long) i * CompletionLayout.BYTES;
            QueuePair queuePair = findQueuePair(completions.get(JAVA_INT, at + CompletionLayout.QUEUE_PAIR_NUMBER));
            if (queuePair == null) {
                continue;
            }
            if (completions.get(JAVA_INT, at + CompletionLayout.STATUS) != 0) {
                queuePair.failurePolled(completions.get(JAVA_LONG, at + CompletionLayout.WORK_ID));
                continue;
            }
            int opcode = completions.get(JAVA_INT, at + CompletionLayout.OPCODE);
            queuePair.retire(CompletionOpcode.isReceive(opcode));
            if (opcode == BINDING) {
                queuePair.bindingPolled(completions.get(JAVA_LONG, at + CompletionLayout.WORK_ID));
            }
        }
    }

    /// Requests one event in the channel for the next completion (ibv_req_notify_cq(3)). Completions that are
    /// already in the queue raise no event, so poll until the queue is empty after arming. Never blocks.
    ///
    /// @throws VerbException EINVAL if the queue has no channel
    public void arm() {
        arm(false);
    }

    /// Requests one event in the channel for the next solicited receive or failed request, see [#arm()]
    /// ([SendBatch#solicited()]). If the queue is already armed for any completion, it stays so.
    ///
    /// @throws VerbException EINVAL if the queue has no channel
    public void armSolicited() {
        arm(true);
    }

    private void arm(boolean solicitedOnly) {
        lifetime.checkOpen();
        if (channel == null) {
            throw new VerbException(
                    "arm completion queue (ibv_req_notify_cq)", Errno.EINVAL, this + " was created without a channel");
        }
        driver.arm(solicitedOnly);
    }

    /// Acknowledges events of this queue (ibv_ack_cq_events(3)). [#close()] acknowledges the remaining ones.
    ///
    /// @throws IllegalArgumentException if fewer were delivered
    public void acknowledge(int events) {
        int left = unacknowledged.addAndGet(-events);
        if (events < 0 || left < 0) {
            unacknowledged.addAndGet(events);
            throw new IllegalArgumentException(
                    events + " events acknowledged, " + (left + events) + " of " + this + " were delivered");
        }
        driver.acknowledge(events);
    }

    /// The number of events delivered but not yet acknowledged.
    public int unacknowledged() {
        return unacknowledged.get();
    }

    /// Makes room for at least `capacity` completions (ibv_resize_cq(3)). The completions in the queue are
    /// kept.
    ///
    /// @throws UnsupportedVerbException if the device does not support this
    /// @throws VerbException EINVAL if the queue holds more completions than that, or the device does not support
    ///         the size
    public void resize(int capacity) {
        lifetime.checkOpen();
        context.require(Capability.RESIZE_COMPLETION_QUEUE, "resize completion queue (ibv_resize_cq)");
        long max = context.limit(DeviceLimit.MAX_COMPLETION_QUEUE_DEPTH);
        if (capacity < 1 || capacity > max) {
            throw new VerbException(
                    "resize completion queue (ibv_resize_cq)",
                    Errno.EINVAL,
                    "capacity is " + capacity + ", must be 1 to " + max);
        }
        OperationLock guard = lock;
        if (guard == null) {
            driver.resize(capacity);
            return;
        }
        guard.lock();
        try {
            driver.resize(capacity);
        } finally {
            guard.unlock();
        }
    }

    /// Makes the device raise fewer events (ibv_modify_cq(3), `IBV_CQ_ATTR_MODERATE`): an armed queue raises
    /// its event after `completions` completions, or `period` after the first of them. This saves interrupts
    /// and wake-ups and costs latency. It has no effect on polling. Zero for both ends it. Blocks as long as
    /// the device does.
    ///
    /// @param completions at most [DeviceLimit#MAX_MODERATED_COMPLETIONS]
    /// @param period rounded up to microseconds; at most [DeviceLimit#MAX_MODERATION_PERIOD]
    /// @throws UnsupportedVerbException without [Capability#COMPLETION_MODERATION]
    /// @throws VerbException EINVAL if the queue has no channel, the device does not support the numbers, or only
    ///         one of them is zero: without a period the last completions would raise no event
    public void moderate(int completions, Duration period) {
        lifetime.checkOpen();
        context.require(Capability.COMPLETION_MODERATION, MODERATE);
        if (channel == null) {
            throw new VerbException(
                    MODERATE, Errno.EINVAL, this + " was created without a channel, so it has no events");
        }
        long mostCompletions = context.limit(DeviceLimit.MAX_MODERATED_COMPLETIONS);
        long mostMicros = context.limit(DeviceLimit.MAX_MODERATION_PERIOD);
        boolean negative = completions < 0 || period.isNegative();
        boolean tooMuch =
                completions > mostCompletions || period.compareTo(Duration.of(mostMicros, ChronoUnit.MICROS)) > 0;
        if (negative || tooMuch || (completions == 0) != period.isZero()) {
            throw new VerbException(
                    MODERATE,
                    Errno.EINVAL,
                    completions + " completions and " + period + " for " + this + ", must be 1 to " + mostCompletions
                            + " and 1 to " + mostMicros + " microseconds, or zero for both");
        }
        driver.moderate(completions, (int) ((period.toNanos() + 999) / 1000));
    }

    /// The open queue pair with this number, or null. The result is usually the same as in the last call.
    private @Nullable QueuePair findQueuePair(int number) {
        QueuePair queuePair = lastCompleted;
        if (number != lastNumber || queuePair == null || !queuePair.isOpen()) {
            queuePair = context.queuePairs().find(number);
            if (queuePair != null) {
                lastCompleted = queuePair;
                lastNumber = number;
            }
        }
        return queuePair;
    }

    void eventDelivered() {
        unacknowledged.incrementAndGet();
    }

    /// Registers it with its context, and keeps its channel open.
    void begin() {
        if (channel != null) {
            lifetime.dependOn(channel.lifetime());
        }
        context.completionQueues().put(driver.handle(), this);
    }

    private void release() {
        if (awaited && channel != null) {
            channel.wakeUp();
        }
        OperationLock guard = lock;
        if (guard != null) {
            guard.lock();
        }
        try {
            context.completionQueues().remove(driver.handle(), this);
            int left = unacknowledged.getAndSet(0);
            if (left > 0) {
                driver.acknowledge(left);
            }
            driver.close();
        } finally {
            lastCompleted = null;
            if (guard != null) {
                guard.unlock();
            }
        }
    }

    CompletionQueueDriver driver() {
        return driver;
    }

    Lifetime lifetime() {
        return lifetime;
    }

    @Override
    public boolean isOpen() {
        return lifetime.isOpen();
    }

    @Override
    public void close() {
        lifetime.close();
    }

    @Override
    public String toString() {
        return "completion queue of " + capacity() + " on " + context;
    }
}
