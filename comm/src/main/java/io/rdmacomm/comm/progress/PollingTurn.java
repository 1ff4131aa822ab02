package io.rdmacomm.comm.progress;

import java.util.LinkedHashSet;
import java.util.SequencedSet;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Lets one of the threads that wait for a group poll it, in thread mode CALLER; the others sleep. Thousands of
/// polling virtual threads would take processor time from each other and from everything else.
///
/// The polling thread wakes the others when their operations have ended, and one more when its own wait is over.
final class PollingTurn {
    private final ReentrantLock lock = new ReentrantLock();
    private final SequencedSet<Waiter> others = new LinkedHashSet<>();
    private @Nullable Waiter polling;

    /// Whether it is the turn of `waiter`, until it calls [#leave]. If not, it must sleep, and call this
    /// again when it wakes up.
    boolean take(Waiter waiter) {
        lock.lock();
        try {
            if (polling != null) {
                others.add(waiter);
                return false;
            }
            polling = waiter;
            others.remove(waiter);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /// The wait of `waiter` is over.
    void leave(Waiter waiter) {
        Waiter next = null;
        lock.lock();
        try {
            others.remove(waiter);
            if (waiter.equals(polling)) {
                polling = null;
            }
            // Even if this thread was woken to poll, but its wait was already over.
            if (polling == null && !others.isEmpty()) {
                next = others.getFirst();
            }
        } finally {
            lock.unlock();
        }
        if (next != null) {
            next.wake();
        }
    }
}
