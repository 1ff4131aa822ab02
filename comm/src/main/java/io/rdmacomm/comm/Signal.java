package io.rdmacomm.comm;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// Something that one thread waits for and that happens once. Where no library thread makes progress, the
/// waiting thread does.
final class Signal {
    private static final long SPIN_NANOS = 20_000;

    // Another thread may poll what this one waits for just before it falls asleep.
    private static final long LONGEST_SLEEP_NANOS = 5_000_000;

    private final CompletionGroup group;
    private volatile boolean set;
    private volatile @Nullable Thread waiter;

    Signal(CompletionGroup group) {
        this.group = group;
    }

    boolean isSet() {
        return set;
    }

    void set() {
        set = true;
        Thread thread = waiter;
        if (thread != null) {
            LockSupport.unpark(thread);
            group.wake(thread);
        }
    }

    /// @throws IllegalStateException in a handler of `group`, which would wait for itself
    static void refuseInHandler(CompletionGroup group) {
        if (group.isPolling()) {
            throw new IllegalStateException(
                    "a blocking call in a handler would wait for itself; use a try method, a future or another thread");
        }
    }

    /// Waits until it is set.
    ///
    /// @param deadline the last moment, of [System#nanoTime()]
    /// @return whether it is set
    /// @throws IllegalStateException in a handler of the group, which would wait for itself
    /// @throws CommInterruptedException if the thread was interrupted
    boolean await(long deadline) {
        if (set) {
            return true;
        }
        refuseInHandler(group);
        waiter = Thread.currentThread();
        Waiter strategy = group.isCallerDriven() ? group.newWaiter(SPIN_NANOS) : null;
        while (!set) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            if (Thread.currentThread().isInterrupted()) {
                throw new CommInterruptedException("interrupted while waiting on " + group.name(), null);
            }
            if (strategy == null) {
                LockSupport.parkNanos(this, left);
            } else {
                int polled = group.poll();
                if (!set) {
                    strategy.idle(polled, Math.min(left, LONGEST_SLEEP_NANOS));
                }
            }
        }
        return true;
    }
}
