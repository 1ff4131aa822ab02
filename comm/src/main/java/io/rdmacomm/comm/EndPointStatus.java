package io.rdmacomm.comm;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The state of an endpoint and what its peer has announced, with the threads that wait for changes.
/// Thread-safe.
final class EndPointStatus {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Map<String, RemoteBuffer> peerBuffers = new TreeMap<>();
    private EndPointState state = EndPointState.CONNECTING;
    private @Nullable CommException failure;
    private long peerBarriers;
    private boolean peerDone;
    private boolean closedHere;

    EndPointState state() {
        return underLock(() -> state);
    }

    @Nullable
    CommException failure() {
        lock.lock();
        try {
            return failure;
        } finally {
            lock.unlock();
        }
    }

    boolean isPeerDone() {
        return underLock(() -> peerDone);
    }

    private <T> T underLock(Supplier<T> what) {
        lock.lock();
        try {
            return what.get();
        } finally {
            lock.unlock();
        }
    }

    /// Goes from `from` to `to`.
    ///
    /// @return false if the state is another
    boolean move(EndPointState from, EndPointState to) {
        lock.lock();
        try {
            if (state != from) {
                return false;
            }
            state = to;
            changed.signalAll();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /// This side closes it, while it is ready.
    ///
    /// @return false if it is in another state
    boolean closeHere() {
        lock.lock();
        try {
            closedHere |= move(EndPointState.READY, EndPointState.CLOSING);
            return closedHere;
        } finally {
            lock.unlock();
        }
    }

    boolean isClosedHere() {
        return underLock(() -> closedHere);
    }

    /// Sets the failure, once. After the peer is done or the endpoint is closed, nothing counts as a failure.
    ///
    /// @return whether this became the failure
    boolean fail(CommException why) {
        lock.lock();
        try {
            if (failure != null || peerDone || state == EndPointState.CLOSED) {
                return false;
            }
            failure = why;
            state = EndPointState.FAILED;
            changed.signalAll();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /// The peer has said that it is done.
    ///
    /// @return whether it said so first
    boolean peerDone() {
        lock.lock();
        try {
            peerDone = true;
            boolean first = state == EndPointState.READY;
            if (first) {
                state = EndPointState.PEER_DONE;
            }
            changed.signalAll();
            return first;
        } finally {
            lock.unlock();
        }
    }

    void peerAtBarrier() {
        lock.lock();
        try {
            peerBarriers++;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Keeps a buffer that the peer has announced; a newer one replaces one of the same name.
    ///
    /// @param most how many there may be
    /// @return whether there was room for it
    boolean peerBuffer(RemoteBuffer buffer, int most) {
        lock.lock();
        try {
            if (peerBuffers.size() >= most && !peerBuffers.containsKey(buffer.name())) {
                return false;
            }
            peerBuffers.put(buffer.name(), buffer);
            changed.signalAll();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /// Forgets a buffer that the peer has withdrawn.
    void forgetPeerBuffer(String name) {
        lock.lock();
        try {
            peerBuffers.remove(name);
        } finally {
            lock.unlock();
        }
    }

    @Nullable
    RemoteBuffer peerBuffer(String name) {
        lock.lock();
        try {
            return peerBuffers.get(name);
        } finally {
            lock.unlock();
        }
    }

    Map<String, RemoteBuffer> peerBuffers() {
        return underLock(() -> Map.copyOf(peerBuffers));
    }

    /// Waits until the peer has announced a buffer, or nothing can come any more.
    @Nullable
    RemoteBuffer awaitPeerBuffer(String name, long deadline) {
        await(() -> peerBuffers.containsKey(name) || isOver(), deadline);
        return peerBuffer(name);
    }

    /// Waits until the peer was at `count` barriers, or never will be.
    boolean awaitPeerBarriers(long count, long deadline) {
        await(() -> peerBarriers >= count || isOver(), deadline);
        return underLock(() -> peerBarriers >= count);
    }

    /// Waits until the peer is done or the endpoint has failed or is closed.
    boolean awaitPeerDone(long deadline) {
        return await(() -> peerDone || failure != null || state == EndPointState.CLOSED, deadline);
    }

    /// Whether the peer says nothing more.
    private boolean isOver() {
        return peerDone || state != EndPointState.READY;
    }

    private boolean await(BooleanSupplier condition, long deadline) {
        lock.lock();
        try {
            while (!condition.getAsBoolean()) {
                long left = deadline - System.nanoTime();
                if (left <= 0 || (!changed.await(left, TimeUnit.NANOSECONDS) && !condition.getAsBoolean())) {
                    return condition.getAsBoolean();
                }
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommInterruptedException("interrupted while waiting for the peer", e);
        } finally {
            lock.unlock();
        }
    }
}
