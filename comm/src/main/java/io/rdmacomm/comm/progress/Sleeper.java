package io.rdmacomm.comm.progress;

import io.rdmacomm.verbs.CompletionChannel;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// The thread that sleeps in a completion channel on behalf of a completion group, and how to wake it. A late
/// wake-up ends the next sleep early, which is harmless.
final class Sleeper {
    private final @Nullable CompletionChannel channel;
    private final AtomicReference<@Nullable Thread> asleep = new AtomicReference<>();

    /// @param channel where it sleeps; null if no thread sleeps
    Sleeper(@Nullable CompletionChannel channel) {
        this.channel = channel;
    }

    /// Makes the calling thread the sleeper. A thread that adds work for it afterwards wakes it.
    ///
    /// @return false if there is a sleeper already
    boolean enter() {
        return asleep.compareAndSet(null, Thread.currentThread());
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
