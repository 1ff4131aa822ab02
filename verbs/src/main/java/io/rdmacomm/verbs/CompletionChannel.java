package io.rdmacomm.verbs;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Where armed completion queues announce that they have something (`struct ibv_comp_channel`,
/// ibv_get_cq_event(3)). One channel serves many completion queues. Usable from any thread.
///
/// The loop that loses nothing is: [#awaitEvent], [CompletionQueue#acknowledge], [CompletionQueue#arm], then poll
/// until the queue is empty, and again. An event for a queue that is empty by then is normal.
public abstract class CompletionChannel extends Resource {
    private final Context context;

    /// For providers.
    protected CompletionChannel(Context context) {
        super(context);
        this.context = context;
    }

    /// The open device it belongs to.
    public final Context context() {
        return context;
    }

    /// Waits until an armed completion queue has a completion. Blocks; virtual threads may call it. Closing the
    /// channel wakes it.
    ///
    /// @param timeout how long to wait at the most; zero to look only
    /// @return the completion queue, whose event the caller acknowledges; null when there was none in time, or
    ///         when [#wakeUp()] ended the wait
    /// @throws InterruptedException if the thread was interrupted
    /// @throws IllegalStateException if the channel is or gets closed
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

    /// Ends a wait in [#awaitEvent(Duration)] early, for other reasons than completions: one that goes on, or else
    /// the next one. Several calls before that count as one. Never blocks; does nothing when the channel is
    /// closed.
    public final void wakeUp() {
        if (isOpen()) {
            doWakeUp();
        }
    }

    /// Ends a wait for [#wakeUp()].
    protected abstract void doWakeUp();

    /// Waits for [#awaitEvent(Duration)]; null on time-out, when woken and when the channel is closing.
    protected abstract @Nullable CompletionQueue doAwaitEvent(long timeoutNanos) throws InterruptedException;

    @Override
    public final String toString() {
        return "completion channel on " + context;
    }
}
