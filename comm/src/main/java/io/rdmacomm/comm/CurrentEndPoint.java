package io.rdmacomm.comm;

import io.rdmacomm.verbs.DeadlineException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// The current endpoint of a client, and the threads that wait for the next one. Thread-safe.
///
/// @param <E> the endpoints that users hold
final class CurrentEndPoint<E> {
    private final String client;
    private final @Nullable Reconnect reconnect;
    private final Function<E, PeerConnection> connectionOf;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private @Nullable E endPoint;
    private @Nullable ClosedException end;

    /// @param client its name in messages
    /// @param reconnect when an endpoint is replaced; null for never
    /// @param connectionOf the connection of an endpoint
    CurrentEndPoint(String client, @Nullable Reconnect reconnect, Function<E, PeerConnection> connectionOf) {
        this.client = client;
        this.reconnect = reconnect;
        this.connectionOf = connectionOf;
    }

    /// The newest endpoint. One must have been set.
    E get() {
        lock.lock();
        try {
            return Objects.requireNonNull(endPoint);
        } finally {
            lock.unlock();
        }
    }

    void set(E next) {
        lock.lock();
        try {
            endPoint = next;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// An endpoint has ended.
    void ended() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// No other endpoint will follow; the first reason is kept.
    void end(ClosedException why) {
        lock.lock();
        try {
            if (end == null) {
                end = why;
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Waits for an endpoint that is ready.
    ///
    /// @throws DeadlineException if there is none in time
    /// @throws ClosedException if there will be none
    E awaitReady(Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        lock.lock();
        try {
            while (true) {
                E now = get();
                if (connectionOf.apply(now).state() == EndPointState.READY) {
                    return now;
                }
                checkReplaced(connectionOf.apply(now));
                long left = deadline - System.nanoTime();
                if (left <= 0) {
                    throw late(connectionOf.apply(now), timeout);
                }
                var _ = changed.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            throw Failures.interrupted("waiting for the server", e);
        } finally {
            lock.unlock();
        }
    }

    private void checkReplaced(PeerConnection now) {
        if (end != null) {
            throw end.again();
        }
        if (!isReplaced(now)) {
            now.checkReady();
        }
    }

    private DeadlineException late(PeerConnection now, Duration timeout) {
        return new DeadlineException(
                client + " has not reconnected to " + now.peerAddress() + " within " + timeout.toMillis() + " ms",
                now.failure());
    }

    /// Waits until the endpoint has ended, has to be replaced, and its owner was notified.
    ///
    /// @return its connection
    PeerConnection awaitEnded() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (true) {
                PeerConnection now = connectionOf.apply(get());
                if (now.endThread() != null && isReplaced(now)) {
                    return now;
                }
                changed.await();
            }
        } finally {
            lock.unlock();
        }
    }

    /// Whether an endpoint that has ended is replaced: only if this side has not closed it.
    private boolean isReplaced(PeerConnection ended) {
        return reconnect != null
                && !ended.isClosedHere()
                && (ended.failure() != null || (reconnect.afterPeerDone() && ended.state() != EndPointState.READY));
    }
}
