package io.rdmacomm.soft;

import io.rdmacomm.soft.linux.Futex;
import io.rdmacomm.soft.mapped.Bell;
import io.rdmacomm.soft.transport.Arrivals;
import io.rdmacomm.soft.transport.Engine;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// The threads that wait for the next event of a completion channel or wait group.
///
/// If all data comes from peers on this host, they sleep at the [bell][QueueBell] that those ring
/// (docs/decisions/0105-a-bell-for-those-who-sleep.md). Otherwise one of them does the work of the engine while it
/// waits, or sleeps at the place where the data of the only completion queue arrives, so incoming data wakes only this
/// thread (docs/decisions/0071-who-waits-reads.md). The others, and virtual threads, wait for an announcement.
final class EventWait {
    /// The resolution of a selector: a millisecond.
    private static final long LEAST_NANOS = 1_000_000;

    /// A queue of events; called with the lock.
    interface Events {
        /// Whether the queue has an event.
        boolean hasNext();

        /// Takes the next event.
        ///
        /// @return its handle, 0 if there is none
        long next();

        /// The bell of the completion queues, null if they have none.
        @Nullable
        QueueBell bell();

        /// The place where a thread can sleep until data arrives. Null if it has to wait for an announcement.
        ///
        /// @param possible whether this thread may sleep there
        default Arrivals.@Nullable Place place(boolean possible) {
            return null;
        }

        /// Receives what has arrived there if the queue has no event; without the lock.
        default void receive() {}
    }

    private final Engine engine;
    private final ReentrantLock lock;
    private final Events events;
    private final Condition announced;
    private final BooleanSupplier over = this::isOver;
    private @Nullable InterruptibleSleep sleep;
    /// The number of threads that sleep in the kernel.
    private int sleeping;
    private boolean woken;
    private boolean closing;
    private @Nullable Thread leading;
    private Arrivals.@Nullable Place awaited;
    private @Nullable Thread atPlace;
    /// Whether another thread leads, or should because the last turn was for it. Then this thread waits for its
    /// next announcement instead.
    private boolean abstains;
    private volatile boolean led;

    /// @param lock of the queue
    EventWait(Engine engine, ReentrantLock lock, Events events) {
        this.engine = engine;
        this.lock = lock;
        this.events = events;
        this.announced = lock.newCondition();
    }

    /// Takes the next event; waits for one if there is none.
    ///
    /// @return its handle, 0 if the time is over, the wait was woken, or the queue is closing
    long await(long timeoutNanos) throws InterruptedException {
        look();
        // Before the lock is taken: a wake-up that comes meanwhile is for this wait or the next one.
        if (timeoutNanos <= 0 && !Thread.currentThread().isVirtual()) {
            events.receive();
        }
        lock.lockInterruptibly();
        try {
            long left = timeoutNanos;
            long found = events.next();
            while (found == 0 && left > 0 && !closing && !woken) {
                left = awaitEvent(left);
                found = events.next();
            }
            woken = false;
            if (found != 0) {
                abstains = false;
            }
            return closing ? 0 : found;
        } catch (InterruptedException e) {
            // It may have been the thread that was woken for an event, or by the program.
            if (events.hasNext() || woken) {
                wake();
            }
            throw e;
        } finally {
            lock.unlock();
        }
    }

    private void look() {
        QueueBell bell = events.bell();
        if (bell != null) {
            bell.look();
        }
    }

    /// Waits without the lock; may return early.
    ///
    /// @return the remaining time
    private long awaitEvent(long nanos) throws InterruptedException {
        QueueBell bell = events.bell();
        if (bell == null) {
            return awaitAnnouncement(nanos);
        }
        long end = System.nanoTime() + nanos;
        boolean inKernel = Futex.isUsable()
                && !bell.isFedByNetwork()
                && !Thread.currentThread().isVirtual();
        int word = bell.enter(inKernel ? Bell.IN_KERNEL : Bell.FOR_MESSAGE);
        try {
            if (bell.isRung()) {
                // It must not sleep.
            } else if (inKernel) {
                sleep(bell, word, nanos);
            } else {
                awaitAnnouncement(nanos);
            }
        } finally {
            bell.leave();
        }
        lookUnlocked(bell);
        return left(end);
    }

    private void sleep(QueueBell bell, int word, long nanos) {
        InterruptibleSleep mine = sleep;
        if (mine == null || !mine.isOpen() || !mine.isAt(bell)) {
            mine = new InterruptibleSleep(bell);
            sleep = mine;
        }
        sleeping++;
        lock.unlock();
        try {
            mine.sleep(word, nanos);
        } finally {
            lock.lock();
            sleeping--;
        }
    }

    /// Looks without the lock, because that of another channel or group may be taken.
    private void lookUnlocked(QueueBell bell) {
        if (bell.isRung()) {
            lock.unlock();
            try {
                bell.look();
            } finally {
                lock.lock();
            }
        }
    }

    /// Waits without the lock; may return early.
    ///
    /// @return the remaining time
    @SuppressWarnings("WaitNotInLoop") // the caller repeats it
    private long awaitAnnouncement(long nanos) throws InterruptedException {
        // A virtual thread would block its carrier.
        boolean mayDrive = nanos >= LEAST_NANOS && !Thread.currentThread().isVirtual();
        Arrivals.Place place = events.place(mayDrive && awaited == null);
        if (place != null) {
            return awaitAt(place, nanos);
        }
        if (mayDrive && leading == null && !abstains) {
            return lead(nanos);
        }
        led = false;
        return announced.awaitNanos(nanos);
    }

    private long awaitAt(Arrivals.Place place, long nanos) throws InterruptedException {
        long end = System.nanoTime() + nanos;
        led = false;
        awaited = place;
        atPlace = Thread.currentThread();
        lock.unlock();
        try {
            place.await(nanos / LEAST_NANOS, over);
        } finally {
            lock.lock();
            awaited = null;
            atPlace = null;
            // Another thread that waits can sleep there now.
            announced.signal();
            if (leading != null) {
                engine.wakeup();
            }
        }
        return left(end);
    }

    private long lead(long nanos) throws InterruptedException {
        long end = System.nanoTime() + nanos;
        boolean done = false;
        leading = Thread.currentThread();
        lock.unlock();
        try {
            done = engine.lead(nanos, over);
        } finally {
            lock.lock();
            leading = null;
        }
        long left = left(end);
        abstains = !isOver() && (!done || engine.hasServedOthers());
        led = !abstains;
        return left;
    }

    private static long left(long end) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        return end - System.nanoTime();
    }

    /// Whether a wait is over; with or without the lock.
    private boolean isOver() {
        lock.lock();
        try {
            return events.hasNext() || closing || woken || isRung();
        } finally {
            lock.unlock();
        }
    }

    private boolean isRung() {
        QueueBell bell = events.bell();
        return bell != null && bell.isRung();
    }

    /// Whether the last thread that waited did the work of the engine; without the lock.
    boolean isLed() {
        return led;
    }

    /// Wakes a thread for an event that was added; with the lock.
    void announce() {
        if (leading == null && engine.isCurrentThread()) {
            engine.servesOther();
        }
        wake();
    }

    /// Wakes a thread. A thread that leads or sleeps at a place need not wake itself.
    private void wake() {
        announced.signal();
        Thread current = Thread.currentThread();
        if (leading != null && !current.equals(leading)) {
            engine.wakeup();
        }
        Arrivals.Place place = awaited;
        if (place != null && !current.equals(atPlace)) {
            place.wakeUp();
        }
        QueueBell bell = events.bell();
        if (bell != null && sleeping > 0) {
            bell.wake();
        }
    }

    /// Ends one wait without an event: the current one, or the next.
    void wakeUp() {
        lock.lock();
        try {
            if (closing) {
                return;
            }
            woken = true;
            wake();
        } finally {
            lock.unlock();
        }
    }

    /// The events have another bell now: makes all threads that wait at the old one wait there.
    void bellChanged(@Nullable QueueBell old) {
        lock.lock();
        try {
            announced.signalAll();
            wake();
            if (old != null && sleeping > 0) {
                old.wake();
            }
        } finally {
            lock.unlock();
        }
    }

    /// Ends all waits.
    void closing() {
        lock.lock();
        try {
            closing = true;
            announced.signalAll();
            wake();
        } finally {
            lock.unlock();
        }
    }
}
