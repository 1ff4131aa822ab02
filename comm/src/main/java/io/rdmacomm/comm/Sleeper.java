package io.rdmacomm.comm;

import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// The thread that sleeps on behalf of a completion group, and how to wake it: by interrupting it, which is
/// what a wait for completion events understands. The interrupt never outlives the sleep: neither its
/// status nor, since the sleeper waits for its waker, what it does to a thread that has gone on to other
/// input and output.
final class Sleeper {
    private static final Object WAKING = new Object();

    /// Null, the thread that sleeps, or WAKING while one is interrupted.
    private final AtomicReference<@Nullable Object> state = new AtomicReference<>();

    /// Makes the calling thread the sleeper.
    ///
    /// @return false if there is one already
    boolean enter() {
        return state.compareAndSet(null, Thread.currentThread());
    }

    /// The calling thread no longer sleeps.
    ///
    /// @return false if it was woken; it is not interrupted then
    boolean leave() {
        if (state.compareAndSet(Thread.currentThread(), null)) {
            return true;
        }
        while (WAKING.equals(state.get())) {
            LockSupport.parkNanos(this, 1_000);
        }
        boolean _ = Thread.interrupted();
        return false;
    }

    void wake() {
        Object now = state.get();
        if (now instanceof Thread thread) {
            wake(thread);
        }
    }

    /// Wakes `thread`, if it is the sleeper.
    void wake(Thread thread) {
        if (state.compareAndSet(thread, WAKING)) {
            thread.interrupt();
            state.set(null);
        }
    }
}
