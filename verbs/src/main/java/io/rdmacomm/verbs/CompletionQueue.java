package io.rdmacomm.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// Where finished work is reported (`struct ibv_cq`, ibv_create_cq(3)). Usable from any thread, unless it was
/// declared single-threaded.
///
/// A queue that overruns is broken: [AsyncEventType#COMPLETION_QUEUE_ERROR] is raised, its queue pairs go to the
/// error state and polling throws.
public abstract class CompletionQueue extends Resource {
    private static final int BINDING = CompletionOpcode.BIND_WINDOW.code();

    private final Context context;
    private final @Nullable CompletionChannel channel;
    private final @Nullable OperationLock lock;
    private final AtomicInteger unacknowledged = new AtomicInteger();
    private @Nullable QueuePair lastCompleted;
    private int lastNumber;

    /// For providers.
    protected CompletionQueue(Context context, CompletionQueueOptions options) {
        super(context);
        this.context = context;
        this.channel = options.channel();
        this.lock = options.singleThreaded() ? null : new OperationLock();
    }

    /// The open device it belongs to.
    public final Context context() {
        return context;
    }

    /// Where its events go when it is armed; null when it is only polled.
    public final @Nullable CompletionChannel channel() {
        return channel;
    }

    /// How many completions it holds; at least what was asked for.
    public abstract int capacity();

    /// Takes up to `completions.capacity()` completions (ibv_poll_cq(3)). Never blocks, never allocates.
    ///
    /// What the completions speak of is visible to this thread when the call returns.
    ///
    /// @return how many there were; fewer than the capacity means that the queue was empty
    /// @throws VerbException EIO if the queue overran
    public final int poll(Completions completions) {
        return poll(completions, completions.capacity());
    }

    /// Takes up to `max` completions; see [#poll(Completions)].
    ///
    /// @param max at most the capacity of `completions`
    /// @return how many there were
    public final int poll(Completions completions, int max) {
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

    private int pollExclusively(Completions completions, int max) {
        checkOpen();
        MemorySegment segment = completions.segment();
        int count = doPoll(segment, max);
        completions.size(count);
        if (count > 0) {
            settle(segment, count);
        }
        return count;
    }

    /// Tells the queue pairs of completed requests: they get the requests' slots back, or have failed.
    private void settle(MemorySegment completions, int count) {
        for (int i = 0; i < count; i++) {
            long at = (long) i * CompletionLayout.BYTES;
            QueuePair queuePair = findQueuePair(completions.get(JAVA_INT, at + CompletionLayout.QUEUE_PAIR_NUMBER));
            if (queuePair == null) {
                continue;
            }
            if (completions.get(JAVA_INT, at + CompletionLayout.STATUS) != 0) {
                queuePair.noticeFailure(completions.get(JAVA_LONG, at + CompletionLayout.WORK_ID));
                continue;
            }
            int opcode = completions.get(JAVA_INT, at + CompletionLayout.OPCODE);
            queuePair.retire(CompletionOpcode.isReceive(opcode));
            if (opcode == BINDING) {
                queuePair.noticeBinding(completions.get(JAVA_LONG, at + CompletionLayout.WORK_ID));
            }
        }
    }

    /// Asks for one event in the channel at the next completion (ibv_req_notify_cq(3)). One shot; completions that
    /// are in the queue already do not count, so poll until empty after arming. Never blocks.
    ///
    /// @param solicitedOnly whether only a solicited receive or an error counts
    /// @throws VerbException EINVAL if the queue has no channel
    public final void arm(boolean solicitedOnly) {
        checkOpen();
        if (channel == null) {
            throw new VerbException(
                    "arm completion queue (ibv_req_notify_cq)", Errno.EINVAL, this + " was created without a channel");
        }
        doArm(solicitedOnly);
    }

    /// Says that `events` events of this queue were dealt with (ibv_ack_cq_events(3)). Events that are left over
    /// are acknowledged by [#close()].
    ///
    /// @throws IllegalArgumentException if so many were not delivered
    public final void acknowledge(int events) {
        int left = unacknowledged.addAndGet(-events);
        if (events < 0 || left < 0) {
            unacknowledged.addAndGet(events);
            throw new IllegalArgumentException(
                    events + " events acknowledged, " + (left + events) + " of " + this + " were delivered");
        }
        doAcknowledge(events);
    }

    /// Events that were delivered and not acknowledged yet.
    public final int unacknowledged() {
        return unacknowledged.get();
    }

    /// Makes room for at least `capacity` completions (ibv_resize_cq(3)). What is in the queue stays.
    ///
    /// @throws UnsupportedVerbException if the device cannot do this
    /// @throws VerbException EINVAL if more completions than that are in the queue or the device has no such size
    public final void resize(int capacity) {
        checkOpen();
        if (!context.supports(Capability.RESIZE_COMPLETION_QUEUE)) {
            throw new UnsupportedVerbException(
                    "resize completion queue (ibv_resize_cq)",
                    Capability.RESIZE_COMPLETION_QUEUE,
                    context.device().name());
        }
        long max = context.attributes().limit(DeviceLimit.MAX_COMPLETION_QUEUE_DEPTH);
        if (capacity < 1 || capacity > max) {
            throw new VerbException(
                    "resize completion queue (ibv_resize_cq)",
                    Errno.EINVAL,
                    "capacity is " + capacity + ", must be 1 to " + max);
        }
        OperationLock guard = lock;
        if (guard == null) {
            doResize(capacity);
            return;
        }
        guard.lock();
        try {
            doResize(capacity);
        } finally {
            guard.unlock();
        }
    }

    /// The queue pair that has this number now, for a provider that looks at completions in [#doPoll]; null if
    /// there is none. Mostly the same one as the last time.
    protected final @Nullable QueuePair findQueuePair(int number) {
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

    final void eventDelivered() {
        unacknowledged.incrementAndGet();
    }

    final void dependOnChannel() {
        if (channel != null) {
            dependOn(channel);
        }
    }

    @Override
    protected final void doClose() {
        OperationLock guard = lock;
        if (guard != null) {
            guard.lock();
        }
        try {
            int left = unacknowledged.getAndSet(0);
            if (left > 0) {
                doAcknowledge(left);
            }
            doDestroy();
        } finally {
            lastCompleted = null;
            if (guard != null) {
                guard.unlock();
            }
        }
    }

    @Override
    public final String toString() {
        return "completion queue of " + capacity() + " on " + context;
    }

    /// Writes up to `max` 48-byte `ibv_wc` entries to the start of `into`.
    protected abstract int doPoll(MemorySegment into, int max);

    /// Arms for [#arm(boolean)].
    protected abstract void doArm(boolean solicitedOnly);

    /// Acknowledges for [#acknowledge(int)].
    protected abstract void doAcknowledge(int events);

    /// Resizes for [#resize(int)]; nobody polls meanwhile.
    protected abstract void doResize(int capacity);

    /// Releases what the provider holds; nobody polls meanwhile, and all events are acknowledged.
    protected abstract void doDestroy();
}
