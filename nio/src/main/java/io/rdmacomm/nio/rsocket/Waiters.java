package io.rdmacomm.nio.rsocket;

import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.RdmaInterruptedException;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// The threads that wait for one connection. One of them waits at the completion channel, and the others wait for
/// that thread: a reader and a writer may wait at the same time, but the channel wakes only one. Methods are called
/// with the lock of the connection held.
final class Waiters {
    private final ReentrantLock lock;
    private final Condition changed;
    private final CompletionChannel events;
    private @Nullable Thread atChannel;

    Waiters(ReentrantLock lock, CompletionChannel events) {
        this.lock = lock;
        this.changed = lock.newCondition();
        this.events = events;
    }

    /// Releases the lock and waits. May return before anything has changed.
    ///
    /// @return whether an event was taken; false after an interrupt, which stays pending
    @SuppressWarnings("WaitNotInLoop") // the callers repeat it
    boolean await(long nanos) {
        if (atChannel != null) {
            try {
                var _ = changed.awaitNanos(nanos);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return false;
        }
        return awaitAtChannel(nanos);
    }

    private boolean awaitAtChannel(long nanos) {
        atChannel = Thread.currentThread();
        lock.unlock();
        CompletionQueue queue = null;
        try {
            queue = events.awaitEvent(Duration.ofNanos(nanos));
        } catch (RdmaInterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IllegalStateException e) {
            // The connection was released meanwhile; the caller checks that.
        } finally {
            lock.lock();
            atChannel = null;
            // Another thread must take over the wait at the channel.
            changed.signalAll();
        }
        return acknowledged(queue);
    }

    /// Takes a pending event.
    ///
    /// @return whether there was one
    boolean takeEvent() {
        try {
            return acknowledged(events.awaitEvent(Duration.ZERO));
        } catch (IllegalStateException e) {
            // The device was closed.
            return false;
        }
    }

    private static boolean acknowledged(@Nullable CompletionQueue queue) {
        if (queue == null || !queue.isOpen()) {
            return false;
        }
        queue.acknowledge(1);
        return true;
    }

    /// Wakes all threads.
    void wakeAll() {
        changed.signalAll();
        if (atChannel != null) {
            events.wakeUp();
        }
    }
}
