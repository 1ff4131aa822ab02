package io.rdmacomm.comm.progress;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// A thread that blocks until a condition holds. The thread that makes the condition true wakes it. If no library
/// thread polls, one of the blocked threads polls; in work mode POLLING, all platform threads do.
public final class Waiter {
    /// The longest sleep of a polling thread; only a precaution, as no wake-up is missed.
    private static final long LONGEST_SLEEP_NANOS = 500_000_000;

    private final Thread thread = Thread.currentThread();
    private final @Nullable CompletionGroup polled;
    private final long longestSleepNanos;
    private boolean polls;
    private boolean asked;
    // Whether it was woken since the last sleep. The thread's park permit is not enough: waiting for a lock
    // consumes it.
    private volatile boolean woken;

    /// @param polled the group that the calling thread polls while it is blocked; null for none
    public Waiter(@Nullable CompletionGroup polled) {
        this(polled, LONGEST_SLEEP_NANOS);
    }

    /// @param polled the group that the calling thread polls while it is blocked; null for none
    /// @param longestSleepNanos its longest sleep while it polls
    public Waiter(@Nullable CompletionGroup polled, long longestSleepNanos) {
        this.polled = polled;
        this.longestSleepNanos = longestSleepNanos;
        this.polls = polled != null && polled.spins() && !thread.isVirtual();
    }

    /// Makes the calling thread wait for completions of `group`, which it polls if no library thread does.
    ///
    /// @throws IllegalStateException in a handler of the group, which would wait for itself
    public static Waiter on(CompletionGroup group) {
        group.refuseInHandler();
        return new Waiter(group.isCallerDriven() ? group : null);
    }

    /// Makes the thread check its condition again. For any thread.
    public void wake() {
        woken = true;
        LockSupport.unpark(thread);
        if (polled != null) {
            polled.wake(thread);
        }
    }

    /// Blocks until `condition` holds. For the thread that created this.
    ///
    /// @param deadline the last moment, of [System#nanoTime()]
    /// @return whether it holds
    public boolean await(BooleanSupplier condition, long deadline) throws InterruptedException {
        return await(condition, deadline, Long.MAX_VALUE, polled == null ? null : polled.newIdleStrategy(condition));
    }

    /// Blocks until `condition` holds; checks it at least every `maxNanos`, without spinning.
    boolean awaitPatiently(BooleanSupplier condition, long deadline, long maxNanos) throws InterruptedException {
        return await(condition, deadline, maxNanos, polled == null ? null : polled.newPatientStrategy(condition));
    }

    private boolean await(BooleanSupplier condition, long deadline, long maxNanos, @Nullable IdleStrategy idle)
            throws InterruptedException {
        try {
            while (!condition.getAsBoolean()) {
                long left = Math.min(deadline - System.nanoTime(), maxNanos);
                if (left <= 0) {
                    return false;
                }
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                if (polled == null || idle == null || !polls(polled)) {
                    sleep(left);
                    continue;
                }
                int completions = polled.poll();
                if (!condition.getAsBoolean()) {
                    idle.idle(completions, Math.min(left, longestSleepNanos));
                }
            }
            return true;
        } finally {
            if (asked && polled != null) {
                // The next wait must ask for the turn again: of two threads that poll, one would find the group taken
                // after it has armed the queue, and sleep although there is a completion.
                asked = false;
                polls = false;
                polled.turn().leave(this);
            }
        }
    }

    private void sleep(long nanos) {
        if (!woken) {
            LockSupport.parkNanos(this, nanos);
        }
        // Cleared before the condition is checked again.
        woken = false;
    }

    private boolean polls(CompletionGroup group) {
        if (!polls) {
            asked = true;
            polls = group.turn().take(this);
        }
        return polls;
    }
}
