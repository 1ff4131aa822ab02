package io.rdmacomm.fault;

import io.rdmacomm.verbs.spi.CompletionChannelDriver;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongConsumer;

/// Also reports an armed queue when a completion that the queue has held back becomes due.
final class FaultCompletionChannel extends RecheckedWait<CompletionChannelDriver> implements CompletionChannelDriver {
    private final LongConsumer onClose;
    private final List<FaultCompletionQueue> queues = new CopyOnWriteArrayList<>();
    private final List<FaultWaitGroup> groups = new CopyOnWriteArrayList<>();

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

    void join(FaultWaitGroup group) {
        groups.add(group);
    }

    void leave(FaultWaitGroup group) {
        groups.remove(group);
    }

    @Override
    void recheck() {
        real.wakeUp();
        for (FaultWaitGroup group : groups) {
            group.recheck();
        }
    }

    @Override
    public long awaitEvent(long timeoutNanos) throws InterruptedException {
        return awaitOrDue(timeoutNanos);
    }

    /// The time until one of its queues will raise an event for a held completion; [HeldCompletions#NEVER] if none
    /// will.
    long untilDue(long now) {
        long soonest = HeldCompletions.NEVER;
        for (FaultCompletionQueue queue : queues) {
            soonest = Math.min(soonest, queue.untilDue(now));
        }
        return soonest;
    }

    @Override
    long awaitNext(long nanos) throws InterruptedException {
        long now = System.nanoTime();
        for (FaultCompletionQueue queue : queues) {
            if (queue.untilDue(now) <= 0) {
                queue.delivered();
                return queue.handle();
            }
        }
        long event = real.awaitEvent(Math.min(nanos, untilDue(now)));
        for (FaultCompletionQueue queue : queues) {
            if (queue.handle() == event) {
                queue.realDelivered();
            }
        }
        return event;
    }

    @Override
    public void close() {
        onClose.accept(handle());
        real.close();
    }
}
