package io.rdmacomm.soft;

import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.Context;
import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// A queue of the completion queues that have something to announce.
final class SoftCompletionChannel extends CompletionChannel {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition announced = lock.newCondition();
    private final ArrayDeque<CompletionQueue> queues = new ArrayDeque<>();
    private boolean woken;

    SoftCompletionChannel(Context context) {
        super(context);
    }

    /// Announces that `queue` was armed and has a completion.
    void announce(CompletionQueue queue) {
        lock.lock();
        try {
            queues.add(queue);
            announced.signal();
        } finally {
            lock.unlock();
        }
    }

    /// Forgets what `queue` announced: it is being closed.
    void forget(CompletionQueue queue) {
        lock.lock();
        try {
            queues.removeIf(queue::equals);
        } finally {
            lock.unlock();
        }
    }

    @Override
    protected @Nullable CompletionQueue doAwaitEvent(long timeoutNanos) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = timeoutNanos;
            while (queues.isEmpty() && left > 0 && isOpen() && !woken) {
                left = announced.awaitNanos(left);
            }
            woken = false;
            return isOpen() ? queues.poll() : null;
        } finally {
            lock.unlock();
        }
    }

    @Override
    protected void doWakeUp() {
        lock.lock();
        try {
            woken = true;
            announced.signal();
        } finally {
            lock.unlock();
        }
    }

    @Override
    protected void onClosing() {
        lock.lock();
        try {
            announced.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    protected void doClose() {
        // Its waiters were woken when closing began.
    }
}
