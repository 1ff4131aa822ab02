package io.rdmacomm.soft.roce.cm;

import io.rdmacomm.verbs.service.HalfMade;
import java.net.InetAddress;
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
    private final HalfMade<R> waiting;
    private final Condition arrived;
    private boolean closed;

    ListeningPort(CommunicationManager manager, PortTable<R> ports, int number, int backlog) {
        this.manager = manager;
        this.ports = ports;
        this.number = number;
        // No address fills it alone.
        this.waiting = new HalfMade<>(backlog, backlog - backlog / 4);
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

    /// With the lock. A peer that finds no room asks again.
    boolean hasRoom(InetAddress from) {
        return waiting.givingWay(from) == null;
    }

    /// With the lock, after [#hasRoom].
    void add(R request, InetAddress from) {
        var _ = waiting.add(request, from);
        arrived.signal();
    }

    /// The peer has given up.
    void remove(R request) {
        var _ = waiting.remove(request);
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
