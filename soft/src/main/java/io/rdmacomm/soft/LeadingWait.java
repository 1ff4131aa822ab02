package io.rdmacomm.soft;

import io.rdmacomm.soft.transport.Engine;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// The threads that wait for an announcement. One of them does the work of the engine meanwhile, so incoming data
/// wakes only this thread (docs/decisions/0071-who-waits-reads.md). Methods require the lock of the owner.
final class LeadingWait {
    /// The resolution of a selector: a millisecond.
    static final long LEAST_NANOS = 1_000_000;

    private final Engine engine;
    private final ReentrantLock lock;
    private final Condition announced;
    private final BooleanSupplier ended;
    private @Nullable Thread leading;
    /// Whether another thread leads, or should because the last turn was for it. Then this thread waits for its
    /// next announcement instead.
    private boolean abstains;
    private volatile boolean led;

    /// @param lock of the owner
    /// @param ended whether there is nothing left to wait for; called with and without the lock
    LeadingWait(Engine engine, ReentrantLock lock, BooleanSupplier ended) {
        this.engine = engine;
        this.lock = lock;
        this.announced = lock.newCondition();
        this.ended = ended;
    }

    /// Waits without the lock; may return early.
    ///
    /// @return the remaining time
    @SuppressWarnings("WaitNotInLoop") // the callers repeat it
    long await(long nanos) throws InterruptedException {
        if (mayLead(nanos)) {
            return lead(nanos);
        }
        led = false;
        return announced.awaitNanos(nanos);
    }

    private boolean mayLead(long nanos) {
        return leading == null
                && !abstains
                && nanos >= LEAST_NANOS
                && !Thread.currentThread().isVirtual();
    }

    private long lead(long nanos) throws InterruptedException {
        long end = System.nanoTime() + nanos;
        boolean done = false;
        leading = Thread.currentThread();
        lock.unlock();
        try {
            done = engine.lead(nanos, ended);
        } finally {
            lock.lock();
            leading = null;
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        abstains = !ended.getAsBoolean() && (!done || engine.hasServedOthers());
        led = !abstains;
        return end - System.nanoTime();
    }

    /// Whether the last thread that waited did the work of the engine; without the lock.
    boolean isLed() {
        return led;
    }

    /// A thread has found its event: the next one may lead.
    void found() {
        abstains = false;
    }

    /// Wakes a thread for an announcement.
    void announce() {
        if (leading == null && engine.isCurrentThread()) {
            engine.servesOther();
        }
        wake();
    }

    /// Wakes a thread.
    void wake() {
        announced.signal();
        if (leading != null && !Thread.currentThread().equals(leading)) {
            engine.wakeup();
        }
    }

    /// Wakes all threads.
    void wakeAll() {
        announced.signalAll();
        wake();
    }
}
