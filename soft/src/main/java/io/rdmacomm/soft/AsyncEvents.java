package io.rdmacomm.soft;

import io.rdmacomm.verbs.AsyncEvent;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.Resource;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The asynchronous events of a context that have not been read. Bounded: if nobody reads them, the first ones are
/// kept.
final class AsyncEvents {
    private static final int CAPACITY = 4096;
    private static final AsyncEvent CLOSED = new AsyncEvent(AsyncEventType.UNKNOWN, null, 0);

    private final LinkedBlockingQueue<AsyncEvent> queue = new LinkedBlockingQueue<>();

    void raise(AsyncEventType type, @Nullable Resource resource) {
        if (queue.size() < CAPACITY) {
            queue.add(new AsyncEvent(type, resource, 0));
        }
    }

    /// A queue pair has failed and its work was flushed.
    ///
    /// @param sharesReceives whether its receives are those of a shared queue, which stay there
    /// @param event that says why, [AsyncEventType#UNKNOWN] for none
    void raiseFailure(QueuePair queuePair, boolean sharesReceives, AsyncEventType event) {
        if (sharesReceives) {
            raise(AsyncEventType.QUEUE_PAIR_LAST_WORK_REACHED, queuePair);
        }
        if (event != AsyncEventType.UNKNOWN) {
            raise(event, queuePair);
        }
    }

    /// The next event, or null when there was none in time or the context is closing.
    @Nullable
    AsyncEvent await(long nanos) throws InterruptedException {
        AsyncEvent event = queue.poll(nanos, TimeUnit.NANOSECONDS);
        if (CLOSED.equals(event)) {
            // For the next waiter.
            queue.add(CLOSED);
            return null;
        }
        return event;
    }

    /// Wakes all waiters.
    void close() {
        queue.add(CLOSED);
    }
}
