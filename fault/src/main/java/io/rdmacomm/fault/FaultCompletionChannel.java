package io.rdmacomm.fault;

import io.rdmacomm.verbs.spi.CompletionChannelDriver;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;

/// Also reports an armed queue when a completion that the queue held back becomes due.
final class FaultCompletionChannel extends Wrapper<CompletionChannelDriver> implements CompletionChannelDriver {
    private final LongConsumer onClose;
    private final List<FaultCompletionQueue> queues = new CopyOnWriteArrayList<>();
    private final AtomicBoolean woken = new AtomicBoolean();
    private volatile boolean closing;

    /// @param onClose receives the handle when the channel is closed
    FaultCompletionChannel(CompletionChannelDriver real, LongConsumer onClose) {
        super(real);
        this.onClose = onClose;
    }

    @Override
    public long handle() {
        return real.handle();
    }

    void add(FaultCompletionQueue queue) {
        queues.add(queue);
    }

    void remove(FaultCompletionQueue queue) {
        queues.remove(queue);
    }

    /// Makes the waiting thread check the queues again.
    void recheck() {
        real.wakeUp();
    }

    @Override
    public void wakeUp() {
        woken.set(true);
        real.wakeUp();
    }

    @Override
    public long awaitEvent(long timeoutNanos) throws InterruptedException {
        long begin = System.nanoTime();
        long left = timeoutNanos;
        while (true) {
            long event = awaitNext(left);
            boolean ended = woken.getAndSet(false);
            left = timeoutNanos - (System.nanoTime() - begin);
            if (event != 0 || ended || left <= 0 || closing) {
                return event;
            }
        }
    }

    /// Waits until something has happened, at most for `nanos`.
    private long awaitNext(long nanos) throws InterruptedException {
        long wait = woken.get() ? 0 : Math.max(0, nanos);
        long now = System.nanoTime();
        for (FaultCompletionQueue queue : queues) {
            long untilDue = queue.untilDue(now);
            if (untilDue <= 0) {
                queue.delivered();
                return queue.handle();
            }
            wait = Math.min(wait, untilDue);
        }
        long event = real.awaitEvent(wait);
        for (FaultCompletionQueue queue : queues) {
            if (queue.handle() == event) {
                queue.realDelivered();
            }
        }
        return event;
    }

    @Override
    public void closing() {
        closing = true;
        real.closing();
    }

    @Override
    public void close() {
        onClose.accept(handle());
        real.close();
    }
}
