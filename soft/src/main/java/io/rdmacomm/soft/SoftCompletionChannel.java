package io.rdmacomm.soft;

import io.rdmacomm.soft.tcp.PolledLinks;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.Context;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// A queue of the completion queues that have something to announce.
final class SoftCompletionChannel extends CompletionChannel {
    /// A selector counts in milliseconds.
    private static final long LEAST_NANOS = 1_000_000;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition announced = lock.newCondition();
    private final ArrayDeque<CompletionQueue> queues = new ArrayDeque<>();
    private final List<SoftCompletionQueue> users = new CopyOnWriteArrayList<>();
    private @Nullable PolledLinks awaited;
    private @Nullable Thread atLinks;
    private boolean woken;
    private volatile @Nullable SoftCompletionQueue attended;

    SoftCompletionChannel(Context context) {
        super(context);
    }

    /// A completion queue announces here from now on.
    void add(SoftCompletionQueue queue) {
        users.add(queue);
    }

    /// Whether the last thread that waited here did so at the sockets of `queue`. The next one most likely does the
    /// same.
    boolean attends(SoftCompletionQueue queue) {
        return queue.equals(attended);
    }

    /// Announces that `queue` was armed and has a completion.
    void announce(CompletionQueue queue) {
        lock.lock();
        try {
            queues.add(queue);
            signal();
        } finally {
            lock.unlock();
        }
    }

    /// Forgets what `queue` announced: it is being closed.
    void forget(CompletionQueue queue) {
        lock.lock();
        try {
            users.removeIf(queue::equals);
            queues.removeIf(queue::equals);
            attended = null;
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
                PolledLinks links = linksToAwait(left);
                left = links == null ? announced.awaitNanos(left) : awaitAt(links, left);
            }
            woken = false;
            return isOpen() ? queues.poll() : null;
        } finally {
            lock.unlock();
        }
    }

    /// The links at whose sockets the calling thread can wait; null if it has to wait for an announcement: several
    /// completion queues use the channel, another thread waits at the links, or this thread is virtual and would
    /// block its carrier.
    private @Nullable PolledLinks linksToAwait(long nanos) {
        boolean possible = users.size() == 1
                && awaited == null
                && nanos >= LEAST_NANOS
                && !Thread.currentThread().isVirtual();
        SoftCompletionQueue only = possible ? users.getFirst() : null;
        PolledLinks links = only == null ? null : only.linksOrNull();
        attended = links == null ? null : only;
        return links;
    }

    /// Waits at the sockets of links, without the lock.
    ///
    /// @return how much of the time is left
    private long awaitAt(PolledLinks links, long nanos) throws InterruptedException {
        long end = System.nanoTime() + nanos;
        awaited = links;
        atLinks = Thread.currentThread();
        lock.unlock();
        try {
            links.await(nanos / LEAST_NANOS);
        } finally {
            lock.lock();
            awaited = null;
            atLinks = null;
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        return end - System.nanoTime();
    }

    /// Wakes a waiting thread, except one that has just read from its links what there is to announce.
    private void signal() {
        announced.signal();
        PolledLinks links = awaited;
        if (links != null && !Thread.currentThread().equals(atLinks)) {
            links.wakeUp();
        }
    }

    @Override
    protected void doWakeUp() {
        lock.lock();
        try {
            woken = true;
            signal();
        } finally {
            lock.unlock();
        }
    }

    @Override
    protected void onClosing() {
        lock.lock();
        try {
            announced.signalAll();
            signal();
        } finally {
            lock.unlock();
        }
    }

    @Override
    protected void doClose() {
        // Its waiters were woken when closing began.
    }
}
