package io.rdmacomm.comm;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The threads that wait until something is given back to a pool. They are served in the order in which they
/// came, so that a thread that needs much room gets it some day; only the first one is woken.
///
/// Nothing is missed: whoever gives back takes a lock that an attempt takes, too. If the attempt was before,
/// the thread that gives back sees that somebody waits; if it was after, the attempt sees what was given back.
final class PoolWaiters {
    private final ReentrantLock turn = new ReentrantLock(true);
    private final Object changes = new Object();
    private volatile boolean waiting;
    private volatile long signals;

    /// Attempts until an attempt has a result, or the time is up. Blocks.
    ///
    /// @param deadline by [System#nanoTime()]
    /// @return the result; null if the time is up
    /// @throws InterruptedException if the thread was interrupted
    <T> @Nullable T await(Supplier<@Nullable T> attempt, long deadline) throws InterruptedException {
        if (!turn.tryLock(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
            return null;
        }
        waiting = true;
        try {
            while (true) {
                long seen = signals;
                T result = attempt.get();
                if (result != null || !awaitSignal(seen, deadline)) {
                    return result;
                }
            }
        } finally {
            waiting = false;
            turn.unlock();
        }
    }

    private boolean awaitSignal(long seen, long deadline) throws InterruptedException {
        synchronized (changes) {
            while (signals == seen) {
                long left = deadline - System.nanoTime();
                if (left <= 0) {
                    return false;
                }
                TimeUnit.NANOSECONDS.timedWait(changes, left);
            }
            return true;
        }
    }

    /// Whether a thread waits.
    boolean isWaiting() {
        return waiting;
    }

    /// Has the first thread that waits attempt again.
    void signal() {
        synchronized (changes) {
            signals = signals + 1;
            changes.notify();
        }
    }
}
