package io.rdmacomm.soft.roce.cm;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;

/// A port at which requests of peers wait for a program. Thread-safe.
///
/// @param <R> the kind of requests
public final class ListeningPort<R> {
    private final CommunicationManager manager;
    private final PortTable<R> ports;
    private final int number;
    private final int backlog;
    private final ArrayDeque<R> waiting = new ArrayDeque<>();
    private final Condition arrived;
    private boolean closed;

    ListeningPort(CommunicationManager manager, PortTable<R> ports, int number, int backlog) {
        this.manager = manager;
        this.ports = ports;
        this.number = number;
        this.backlog = backlog;
        this.arrived = manager.lock.newCondition();
    }

    /// Its number.
    public int number() {
        return number;
    }

    /// Waits for the next request.
    ///
    /// @return null after the timeout, and when the port is closed
    public @Nullable R await(long timeoutNanos) throws InterruptedException {
        manager.lock.lockInterruptibly();
        try {
            long left = timeoutNanos;
            while (waiting.isEmpty() && !closed && left > 0) {
                left = arrived.awaitNanos(left);
            }
            return waiting.poll();
        } finally {
            manager.lock.unlock();
        }
    }

    /// With the lock. A peer that finds no room asks again.
    boolean hasRoom() {
        return waiting.size() < backlog;
    }

    void add(R request) {
        waiting.add(request);
        arrived.signal();
    }

    /// The peer has given up.
    void remove(R request) {
        waiting.remove(request);
    }

    /// Takes no more requests, and wakes who waits.
    ///
    /// @return those that nobody has taken
    public List<R> end() {
        manager.lock.lock();
        try {
            closed = true;
            ports.remove(this);
            arrived.signalAll();
            List<R> left = new ArrayList<>(waiting);
            waiting.clear();
            return left;
        } finally {
            manager.lock.unlock();
        }
    }
}
