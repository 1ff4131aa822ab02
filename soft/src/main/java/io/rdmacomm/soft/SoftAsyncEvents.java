package io.rdmacomm.soft;

import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.spi.DriverEvent;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The unread asynchronous events of a context. Bounded: when it is full, later events are dropped.
final class SoftAsyncEvents {
    private static final int CAPACITY = 4096;
    private static final DriverEvent CLOSED = new DriverEvent(AsyncEventType.UNKNOWN, 0);

    private final LinkedBlockingQueue<DriverEvent> queue = new LinkedBlockingQueue<>();

    /// Raises an event of the object with this number.
    void raise(AsyncEventType type, long number) {
        if (queue.size() < CAPACITY) {
            queue.add(new DriverEvent(type, number));
        }
    }

    /// The queue pair with this number has failed and its work was flushed.
    ///
    /// @param sharesReceives whether it uses a shared receive queue, where its receives stay
    /// @param event the event for the reason, [AsyncEventType#UNKNOWN] for none
    void raiseFailure(int number, boolean sharesReceives, AsyncEventType event) {
        if (sharesReceives) {
            raise(AsyncEventType.QUEUE_PAIR_LAST_WORK_REACHED, number);
        }
        if (event != AsyncEventType.UNKNOWN) {
            raise(event, number);
        }
    }

    /// The next event, or null on a timeout or when the context is closing.
    @Nullable
    DriverEvent await(long nanos) throws InterruptedException {
        DriverEvent event = queue.poll(nanos, TimeUnit.NANOSECONDS);
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
