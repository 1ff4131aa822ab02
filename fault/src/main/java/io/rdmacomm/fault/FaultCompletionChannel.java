package io.rdmacomm.fault;

import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/// Stands for a completion channel. It also reports an armed queue when a completion that the queue held back becomes
/// due.
final class FaultCompletionChannel extends CompletionChannel {
    private final FaultContext context;
    private final CompletionChannel real;
    private final List<FaultCompletionQueue> queues = new CopyOnWriteArrayList<>();
    private final AtomicBoolean woken = new AtomicBoolean();

    FaultCompletionChannel(FaultContext context, CompletionChannel real) {
        super(context);
        this.context = context;
        this.real = real;
    }

    CompletionChannel real() {
        return real;
    }

    /// Adds a queue that may hold completions back.
    void add(FaultCompletionQueue queue) {
        queues.add(queue);
    }

    void remove(FaultCompletionQueue queue) {
        queues.remove(queue);
    }

    /// Has the waiting thread look at the queues again.
    void lookAgain() {
        real.wakeUp();
    }

    @Override
    protected void doWakeUp() {
        woken.set(true);
        real.wakeUp();
    }

    @Override
    protected @Nullable CompletionQueue doAwaitEvent(long timeoutNanos) throws InterruptedException {
        long begin = System.nanoTime();
        long left = timeoutNanos;
        while (true) {
            CompletionQueue event = awaitNext(left);
            boolean ended = woken.getAndSet(false);
            left = timeoutNanos - (System.nanoTime() - begin);
            if (event != null || ended || left <= 0 || !isOpen()) {
                return event;
            }
        }
    }

    /// Waits until something has happened, at most for `nanos`.
    private @Nullable CompletionQueue awaitNext(long nanos) throws InterruptedException {
        long wait = woken.get() ? 0 : Math.max(0, nanos);
        long now = System.nanoTime();
        for (FaultCompletionQueue queue : queues) {
            long untilDue = queue.untilDue(now);
            if (untilDue <= 0) {
                queue.delivered();
                return queue;
            }
            wait = Math.min(wait, untilDue);
        }
        CompletionQueue event = awaitReal(wait);
        if (event == null) {
            return null;
        }
        event.acknowledge(1);
        // Null if it is being closed.
        FaultCompletionQueue queue = (FaultCompletionQueue) context.standIn(event);
        if (queue != null) {
            queue.delivered();
        }
        return queue;
    }

    private @Nullable CompletionQueue awaitReal(long nanos) throws InterruptedException {
        try {
            return real.awaitEvent(Duration.ofNanos(nanos));
        } catch (IllegalStateException e) {
            if (isOpen()) {
                throw e;
            }
            return null; // closed meanwhile
        }
    }

    @Override
    protected void onClosing() {
        real.close(); // wakes its waiters
    }

    @Override
    protected void doClose() {
        real.close();
    }
}
