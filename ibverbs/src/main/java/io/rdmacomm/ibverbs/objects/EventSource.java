package io.rdmacomm.ibverbs.objects;

import io.rdmacomm.ibverbs.ffm.LibC;
import io.rdmacomm.ibverbs.structs.Deadline;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// A file descriptor that events are read from, and the threads that wait for it.
///
/// A platform thread waits in poll(2). A virtual thread must not, because it would pin its carrier: one helper thread
/// per source waits for all virtual threads, as long as there are any. [#wakeUp()] ends one wait, [#wake()] ends all,
/// and [#close()] returns when no thread is between [#enter()] and [#leave()] any more: then the C objects behind the
/// file can be destroyed.
final class EventSource implements AutoCloseable {
    /// How late an interrupt may be noticed, at most.
    private static final int SLICE_MILLISECONDS = 50;
    /// How long the helper stays when no thread waits.
    private static final long LINGER_SECONDS = 10;

    private final int file;
    private final int event;
    private final String name;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Condition wanted = lock.newCondition();
    private int users;
    private int waiters;
    private int unserved;
    private long rounds;
    private boolean helperRuns;
    private boolean wakeUp;
    private boolean closing;

    /// @param file the descriptor; reads of it return EAGAIN from now on
    EventSource(int file, String name) {
        this.file = file;
        this.name = name;
        this.event = LibC.createEvent();
        if (!LibC.makeNonBlocking(file)) {
            throw new IllegalStateException("the events of " + name + " have no open file");
        }
    }

    /// Begins to use the file.
    ///
    /// @return false if it is being closed and must not be used
    boolean enter() {
        lock.lock();
        try {
            if (!closing) {
                users++;
            }
            return !closing;
        } finally {
            lock.unlock();
        }
    }

    /// Ends what [#enter()] began.
    void leave() {
        lock.lock();
        try {
            users--;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Waits until the file may have something to read, for at most `nanos`; may return early.
    ///
    /// @return false if the file is being closed
    boolean await(long nanos) throws InterruptedException {
        if (Thread.currentThread().isVirtual()) {
            return awaitHelper(nanos);
        }
        long deadline = Deadline.after(nanos);
        for (long left = nanos; left > 0 && !isEnding(); left = Deadline.left(deadline)) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            long milliseconds = Math.min(SLICE_MILLISECONDS, TimeUnit.NANOSECONDS.toMillis(left) + 1);
            if (LibC.awaitReadable(file, event, (int) milliseconds)) {
                break;
            }
        }
        return !isClosing();
    }

    private boolean isClosing() {
        lock.lock();
        try {
            return closing;
        } finally {
            lock.unlock();
        }
    }

    private boolean isEnding() {
        lock.lock();
        try {
            return closing || wakeUp;
        } finally {
            lock.unlock();
        }
    }

    /// Makes a wait end early, now or later, until [#clearWakeUp()].
    void wakeUp() {
        lock.lock();
        try {
            if (!wakeUp && !closing) {
                wakeUp = true;
                changed.signalAll();
                if (event >= 0) {
                    LibC.signal(event);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /// Forgets calls of [#wakeUp()].
    ///
    /// @return whether there was one
    boolean clearWakeUp() {
        lock.lock();
        try {
            boolean woken = wakeUp;
            // While the source is being closed, the event stays: it ends all waits.
            if (woken && event >= 0 && !closing) {
                LibC.clear(event);
            }
            wakeUp = false;
            return woken;
        } finally {
            lock.unlock();
        }
    }

    private boolean awaitHelper(long nanos) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long round = rounds;
            long left = nanos;
            waiters++;
            startHelper();
            try {
                while (round == rounds && left > 0 && !closing && !wakeUp) {
                    left = changed.awaitNanos(left);
                }
            } finally {
                waiters--;
                if (unserved > 0 && --unserved == 0) {
                    changed.signalAll();
                }
            }
            return !closing;
        } finally {
            lock.unlock();
        }
    }

    private void startHelper() {
        if (helperRuns) {
            wanted.signal();
        } else {
            helperRuns = true;
            users++;
            Thread.ofPlatform().daemon().name("rdmacomm events of " + name).start(this::help);
        }
    }

    private void help() {
        try {
            while (isWanted()) {
                if (LibC.awaitReadable(file, event, SLICE_MILLISECONDS)) {
                    announce();
                }
            }
        } finally {
            leave();
        }
    }

    /// Whether a virtual thread waits; waits a while for one to come. After false the helper has ended.
    private boolean isWanted() {
        lock.lock();
        try {
            long left = TimeUnit.SECONDS.toNanos(LINGER_SECONDS);
            while (waiters == 0 && left > 0 && !closing) {
                left = wanted.awaitNanos(left);
            }
            helperRuns = waiters > 0 && !closing;
            return helperRuns;
        } catch (InterruptedException e) {
            helperRuns = false;
            return false;
        } finally {
            lock.unlock();
        }
    }

    /// Makes all virtual threads look, and gives them time to: a file that stays readable must not make this spin.
    private void announce() {
        lock.lock();
        try {
            rounds++;
            unserved = waiters;
            changed.signalAll();
            long left = TimeUnit.MILLISECONDS.toNanos(SLICE_MILLISECONDS);
            while (unserved > 0 && left > 0 && !closing) {
                left = changed.awaitNanos(left);
            }
            unserved = 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    /// Ends all waits, now and from now on.
    void wake() {
        lock.lock();
        try {
            closing = true;
            changed.signalAll();
            wanted.signalAll();
            if (event >= 0) {
                LibC.signal(event);
            }
        } finally {
            lock.unlock();
        }
    }

    /// Waits until no thread uses the file any more. The descriptor itself belongs to libibverbs.
    @Override
    public void close() {
        wake();
        lock.lock();
        try {
            while (users > 0) {
                changed.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
        if (event >= 0) {
            LibC.close(event);
        }
    }
}
