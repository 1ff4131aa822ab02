package io.rdmacomm.verbs;

import io.rdmacomm.verbs.lifetime.Lifetime;
import io.rdmacomm.verbs.service.Closer;
import io.rdmacomm.verbs.spi.CompletionChannelDriver;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Reports the events of armed completion queues (`struct ibv_comp_channel`, ibv_get_cq_event(3)). One channel
/// serves many completion queues; a [WaitGroup] waits for many channels. Thread-safe.
///
/// To miss no completion, repeat: [#awaitEvent], [CompletionQueue#acknowledge], [CompletionQueue#arm], then
/// poll until the queue is empty. An event for a queue that is already empty is normal.
public final class CompletionChannel implements Resource {
    private final Context context;
    private final CompletionChannelDriver driver;
    private final Lifetime lifetime;
    private final Set<Consumer<CompletionChannel>> beforeClose = ConcurrentHashMap.newKeySet();

    CompletionChannel(Context context, CompletionChannelDriver driver) {
        this.context = context;
        this.driver = driver;
        this.lifetime = new Lifetime(this, context.lifetime(), driver, this::release);
    }

    /// The open device that it belongs to.
    public Context context() {
        return context;
    }

    /// Waits until an armed completion queue has a completion. Blocks; suits virtual threads. Closing the channel
    /// ends the wait.
    ///
    /// @param timeout the longest wait; zero to poll
    /// @return the completion queue, whose event the caller acknowledges; null after the timeout or [#wakeUp()]
    /// @throws RdmaInterruptedException if the thread was interrupted
    /// @throws IllegalStateException if the channel is closed, or is being closed
    public @Nullable CompletionQueue awaitEvent(Duration timeout) {
        lifetime.checkOpen();
        long begin = System.nanoTime();
        long nanos = timeout.toNanos();
        long left = nanos;
        while (true) {
            long handle = awaitEvent(left);
            if (handle == 0) {
                lifetime.checkOpen();
                return null;
            }
            CompletionQueue queue = context.completionQueues().find(handle);
            if (queue != null) {
                queue.eventDelivered();
                return queue;
            }
            // It is being closed.
            left = Math.max(0, nanos - (System.nanoTime() - begin));
        }
    }

    private long awaitEvent(long nanos) {
        try {
            return driver.awaitEvent(nanos);
        } catch (InterruptedException e) {
            throw new RdmaInterruptedException("interrupted while waiting for an event of " + this, e);
        }
    }

    /// Ends the current wait in [#awaitEvent(Duration)], or the next one if no thread waits. Several calls before
    /// that count as one. Never blocks; does nothing if the channel is closed.
    public void wakeUp() {
        if (isOpen()) {
            driver.wakeUp();
        }
    }

    /// Adds an action that is called before this channel is closed, to remove the channel from a group.
    void beforeClose(Consumer<CompletionChannel> action) {
        beforeClose.add(action);
    }

    /// Removes an action.
    void notBeforeClose(Consumer<CompletionChannel> action) {
        beforeClose.remove(action);
    }

    private void release() {
        for (Consumer<CompletionChannel> action : beforeClose) {
            Closer.step(this, () -> action.accept(this));
        }
        driver.close();
    }

    /// Whether several open queues report their events here.
    boolean isShared() {
        return lifetime.users() > 1;
    }

    CompletionChannelDriver driver() {
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
        return "completion channel on " + context;
    }
}
