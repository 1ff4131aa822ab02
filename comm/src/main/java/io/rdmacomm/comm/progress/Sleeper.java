package io.rdmacomm.comm.progress;

import io.rdmacomm.verbs.CompletionChannel;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// The thread that sleeps in a completion channel on behalf of a completion group, and how to wake it. A late
/// wake-up ends the next sleep early, which is harmless. Other threads that have nothing to do stand by: the sleeper
/// wakes up for their completions, too, and one of them takes over when it leaves.
final class Sleeper {
    private final @Nullable CompletionChannel channel;
    private final AtomicReference<@Nullable Thread> asleep = new AtomicReference<>();
    private final Queue<Thread> standBys = new ConcurrentLinkedQueue<>();

    /// @param channel where it sleeps; null if nobody does
    Sleeper(@Nullable CompletionChannel channel) {
        this.channel = channel;
    }

    /// Makes the calling thread the sleeper. A thread that gives it something to do afterwards wakes it.
    ///
    /// @return false if there is one already
    boolean enter() {
        return asleep.compareAndSet(null, Thread.currentThread());
    }

    /// Blocks the calling thread while another one is the sleeper, until it is unparked.
    ///
    /// @param ended whether it has nothing to wait for any more
    void standBy(BooleanSupplier ended, long maxNanos) {
        Thread thread = Thread.currentThread();
        standBys.add(thread);
        try {
            if (asleep.get() != null && !ended.getAsBoolean()) {
                LockSupport.parkNanos(this, maxNanos);
            }
        } finally {
            standBys.remove(thread);
        }
    }

    /// Makes one of the threads that stand by try again to become the sleeper.
    void callStandBy() {
        Thread next = standBys.peek();
        if (next != null) {
            LockSupport.unpark(next);
        }
    }

    /// The calling thread no longer sleeps.
    void leave() {
        asleep.set(null);
    }

    void wake() {
        CompletionChannel where = channel;
        if (where != null && asleep.get() != null) {
            where.wakeUp();
        }
    }

    /// Wakes `thread`, if it is the sleeper.
    void wake(Thread thread) {
        if (thread.equals(asleep.get())) {
            wake();
        }
    }
}
