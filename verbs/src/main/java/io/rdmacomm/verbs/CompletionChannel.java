package io.rdmacomm.verbs;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Reports the events of armed completion queues (`struct ibv_comp_channel`, ibv_get_cq_event(3)). One channel
/// serves many completion queues. Thread-safe.
///
/// To miss nothing, repeat: [#awaitEvent], [CompletionQueue#acknowledge], [CompletionQueue#arm], then poll until
/// the queue is empty. An event for a queue that is already empty is normal.
public abstract class CompletionChannel extends Resource {
    private final Context context;

    /// For providers.
    protected CompletionChannel(Context context) {
        super(context);
        this.context = context;
    }

    /// The open device that it belongs to.
    public final Context context() {
        return context;
    }

    /// Waits until an armed completion queue has a completion. Blocks; suits virtual threads. Closing the channel
    /// ends the wait.
    ///
    /// @param timeout the longest wait; zero to poll
    /// @return the completion queue, whose event the caller acknowledges; null after the timeout or [#wakeUp()]
    /// @throws InterruptedException if the thread was interrupted
    /// @throws IllegalStateException if the channel is closed, or is being closed
    public final @Nullable CompletionQueue awaitEvent(Duration timeout) throws InterruptedException {
        checkOpen();
        CompletionQueue queue = doAwaitEvent(timeout.toNanos());
        if (queue == null) {
            checkOpen();
        } else {
            queue.eventDelivered();
        }
        return queue;
    }

    /// Ends the current wait in [#awaitEvent(Duration)], or the next one if no thread waits. Several calls before
    /// that count as one. Never blocks; does nothing if the channel is closed.
    public final void wakeUp() {
        if (isOpen()) {
            doWakeUp();
        }
    }

    /// Ends a wait for [#wakeUp()].
    protected abstract void doWakeUp();

    /// Waits for [#awaitEvent(Duration)]; null after the timeout, a wake-up, and when the channel is closing.
    protected abstract @Nullable CompletionQueue doAwaitEvent(long timeoutNanos) throws InterruptedException;

    @Override
    public final String toString() {
        return "completion channel on " + context;
    }
}
