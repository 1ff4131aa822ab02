package io.rdmacomm.soft;

import io.rdmacomm.soft.tcp.PolledLinks;
import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.verbs.spi.CompletionChannelDriver;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/// A queue of the completion queues that have something to announce.
final class SoftCompletionChannel implements CompletionChannelDriver {
    /// A completion queue as its channel sees it.
    interface Announcing {
        /// The number that its events carry.
        long handle();

        /// The TCP links whose requests complete there; null if there were none yet.
        @Nullable
        PolledLinks linksOrNull();
    }

    /// A selector counts in milliseconds.
    private static final long LEAST_NANOS = 1_000_000;

    private final Engine engine;
    private final String device;
    private final int number;
    private final IntConsumer onClose;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition announced = lock.newCondition();
    private final ArrayDeque<Announcing> queues = new ArrayDeque<>();
    private final List<Announcing> users = new CopyOnWriteArrayList<>();
    private final BooleanSupplier ended = this::hasEnded;
    private @Nullable PolledLinks awaited;
    private @Nullable Thread atLinks;
    private @Nullable Thread leading;
    /// Whether another thread leads, or should because the last turn was for it: then this one waits for its next
    /// announcement.
    private boolean abstains;
    private boolean woken;
    private boolean closing;
    private volatile @Nullable Announcing attended;

    /// @param engine of the context
    /// @param device its name, for messages
    /// @param onClose receives the number when the channel is closed
    SoftCompletionChannel(Engine engine, String device, int number, IntConsumer onClose) {
        this.engine = engine;
        this.device = device;
        this.number = number;
        this.onClose = onClose;
    }

    @Override
    public long handle() {
        return number;
    }

    /// A completion queue announces here from now on.
    void add(Announcing queue) {
        users.add(queue);
    }

    /// Whether the last thread that waited here did so at the sockets of `queue`. The next one most likely does the
    /// same.
    boolean attends(Announcing queue) {
        return queue.equals(attended);
    }

    /// Announces that `queue` was armed and has a completion.
    void announce(Announcing queue) {
        lock.lock();
        try {
            queues.add(queue);
            if (leading == null && engine.isCurrentThread()) {
                engine.servesOther();
            }
            signal();
        } finally {
            lock.unlock();
        }
    }

    /// Forgets what `queue` announced: it is being closed.
    void forget(Announcing queue) {
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
    public long awaitEvent(long timeoutNanos) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = timeoutNanos;
            while (queues.isEmpty() && left > 0 && !closing && !woken) {
                PolledLinks links = linksToAwait(left);
                if (links != null) {
                    left = awaitAt(links, left);
                } else {
                    left = mayLead(left) ? lead(left) : announced.awaitNanos(left);
                }
            }
            woken = false;
            Announcing queue = closing ? null : queues.poll();
            abstains &= queue == null;
            return queue == null ? 0 : queue.handle();
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
        Announcing only = possible ? users.getFirst() : null;
        PolledLinks links = only == null ? null : only.linksOrNull();
        attended = links == null ? null : only;
        return links;
    }

    /// Whether a wait is over; a thread without the lock.
    private boolean hasEnded() {
        lock.lock();
        try {
            return !queues.isEmpty() || closing || woken;
        } finally {
            lock.unlock();
        }
    }

    private boolean mayLead(long nanos) {
        return leading == null
                && !abstains
                && nanos >= LEAST_NANOS
                && !Thread.currentThread().isVirtual();
    }

    /// Does the work of the engine while it waits, without the lock: what arrives then wakes this thread only.
    ///
    /// @return how much of the time is left
    private long lead(long nanos) throws InterruptedException {
        long end = System.nanoTime() + nanos;
        boolean led = false;
        leading = Thread.currentThread();
        lock.unlock();
        try {
            led = engine.lead(nanos, ended);
        } finally {
            lock.lock();
            leading = null;
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        abstains = queues.isEmpty() && (!led || engine.hasServedOthers());
        return end - System.nanoTime();
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
            links.await(nanos / LEAST_NANOS, ended);
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
        if (leading != null && !Thread.currentThread().equals(leading)) {
            engine.wakeup();
        }
    }

    @Override
    public void wakeUp() {
        lock.lock();
        try {
            woken = true;
            signal();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void closing() {
        lock.lock();
        try {
            closing = true;
            announced.signalAll();
            signal();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        onClose.accept(number);
    }

    @Override
    public String toString() {
        return "completion channel on " + device;
    }
}
