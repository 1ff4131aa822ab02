package io.rdmacomm.soft.roce.cm;

import io.rdmacomm.verbs.service.HalfMade;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;

/// A port where requests of peers wait for a program. Thread-safe.
///
/// @param <R> the kind of requests
public final class ListeningPort<R> {
    private final CommunicationManager manager;
    private final PortTable<R> ports;
    private final int number;
    private final HalfMade<R> waiting;
    private final Condition arrived;
    private boolean closed;

    ListeningPort(CommunicationManager manager, PortTable<R> ports, int number, int backlog) {
        this.manager = manager;
        this.ports = ports;
        this.number = number;
        // One address alone cannot fill it.
        this.waiting = new HalfMade<>(backlog, backlog - backlog / 4);
        this.arrived = manager.lock.newCondition();
    }

    /// Its number.
    public int number() {
        return number;
    }

    /// Waits for the next request.
    ///
    /// @return null after the timeout or when the port is closed
    public @Nullable R await(long timeoutNanos) throws InterruptedException {
        manager.lock.lockInterruptibly();
        try {
            long left = timeoutNanos;
            while (waiting.size() == 0 && !closed && left > 0) {
                left = arrived.awaitNanos(left);
            }
            return poll();
        } finally {
            manager.lock.unlock();
        }
    }

    private @Nullable R poll() {
        R oldest = waiting.oldest();
        if (oldest != null) {
            var _ = waiting.remove(oldest);
        }
        return oldest;
    }

    /// Whether there is room. A peer that finds none asks again. Under the lock.
    boolean hasRoom(InetAddress from) {
        return waiting.givingWay(from) == null;
    }

    /// Adds a request after [#hasRoom]; under the lock.
    void add(R request, InetAddress from) {
        var _ = waiting.add(request, from);
        arrived.signal();
    }

    /// Removes a request whose peer has given up.
    void remove(R request) {
        var _ = waiting.remove(request);
    }

    /// Stops taking requests, and wakes waiting threads.
    ///
    /// @return the requests that the program has not taken
    public List<R> end() {
        manager.lock.lock();
        try {
            closed = true;
            ports.remove(this);
            arrived.signalAll();
            List<R> left = new ArrayList<>();
            for (R each = poll(); each != null; each = poll()) {
                left.add(each);
            }
            return left;
        } finally {
            manager.lock.unlock();
        }
    }
}
