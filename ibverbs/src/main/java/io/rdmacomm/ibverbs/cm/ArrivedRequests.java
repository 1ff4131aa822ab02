package io.rdmacomm.ibverbs.cm;

import io.rdmacomm.ibverbs.structs.Deadline;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/// The requests that arrived at a port for one device. Thread-safe.
///
/// The kernel counts a request against its backlog only until its event is read, which happens at once. So the
/// backlog is enforced here: requests beyond it are rejected.
final class ArrivedRequests {
    private final ConnectionEventChannel channel;
    private final ListeningPort port;
    private final int backlog;
    private final Deque<IdentifierEvent> requests = new ArrayDeque<>();
    private @Nullable IdentifierEvent end;
    private boolean closing;

    /// @param channel the channel of the requests
    ArrivedRequests(ConnectionEventChannel channel, ListeningPort port, int backlog) {
        this.channel = channel;
        this.port = port;
        this.backlog = backlog;
    }

    /// The address that requests arrive at.
    InetSocketAddress address() {
        return port.address();
    }

    /// The channel of the requests.
    ConnectionEventChannel channel() {
        return channel;
    }

    /// No more requests arrive.
    synchronized void end(IdentifierEvent event) {
        end = event;
        notifyAll();
    }

    /// Takes a request, if there is room.
    synchronized boolean keep(IdentifierEvent event) {
        boolean room = !closing && requests.size() < backlog;
        if (room) {
            requests.add(event);
            notifyAll();
        }
        return room;
    }

    /// Waits for the next request.
    ///
    /// @param make makes an object that owns the request's identifier
    /// @return null after the timeout and when the listener is being closed
    <R> @Nullable R await(long timeoutNanos, BiFunction<ConnectionIdentifier, IdentifierEvent, R> make)
            throws InterruptedException {
        IdentifierEvent request = next(timeoutNanos);
        ConnectionIdentifier arrived = request == null ? null : request.arrived();
        if (request == null || arrived == null) {
            return null;
        }
        boolean success = false;
        try {
            R made = make.apply(arrived, request);
            success = true;
            return made;
        } finally {
            if (!success) {
                // The manager is closing, and no other object knows the identifier.
                channel.refuse(arrived);
            }
        }
    }

    private synchronized @Nullable IdentifierEvent next(long timeoutNanos) throws InterruptedException {
        long deadline = Deadline.after(timeoutNanos);
        while (requests.isEmpty() && end == null && !closing && Deadline.left(deadline) > 0) {
            TimeUnit.NANOSECONDS.timedWait(this, Deadline.left(deadline));
        }
        if (closing) {
            return null;
        }
        if (requests.isEmpty() && end != null) {
            throw IdentifierFailures.of(
                    "wait for a request (rdma_get_cm_event)", end, "listener at " + address(), timeoutNanos);
        }
        return requests.poll();
    }

    /// Ends all waits, now and from now on.
    synchronized void wake() {
        closing = true;
        notifyAll();
    }

    /// Stops listening for this device, and rejects the waiting requests. Call it after [#wake()].
    void close() {
        try {
            port.leave(this);
        } finally {
            for (IdentifierEvent request : requests) {
                if (request.arrived() != null) {
                    channel.refuse(request.arrived());
                }
            }
            requests.clear();
        }
    }

    @Override
    public String toString() {
        return "listener at " + address() + " on " + channel;
    }
}
