package io.rdmacomm.ibverbs.cm;

import io.rdmacomm.ibverbs.structs.Deadline;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.Listener;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The requests that arrived at a port for one device.
///
/// The kernel counts a request to its backlog only until its event is read, which happens at once. So the backlog is
/// kept here, and requests beyond it are rejected.
final class IbvListener extends Listener {
    private final IbvConnectionManager connections;
    private final ListeningPort port;
    private final int backlog;
    private final Deque<IdentifierEvent> requests = new ArrayDeque<>();
    private @Nullable IdentifierEvent end;
    private boolean closing;

    IbvListener(IbvConnectionManager connections, ListeningPort port, int backlog) {
        super(connections);
        this.connections = connections;
        this.port = port;
        this.backlog = backlog;
    }

    @Override
    public InetSocketAddress localAddress() {
        return port.address();
    }

    /// The channel to which its requests belong.
    ConnectionEventChannel channel() {
        return connections.channel();
    }

    /// No more requests come.
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

    @Override
    protected synchronized @Nullable ConnectionRequest doAwaitRequest(long timeoutNanos) throws InterruptedException {
        long deadline = Deadline.after(timeoutNanos);
        while (requests.isEmpty() && end == null && !closing && Deadline.left(deadline) > 0) {
            TimeUnit.NANOSECONDS.timedWait(this, Deadline.left(deadline));
        }
        if (closing) {
            return null;
        }
        IdentifierEvent request = requests.poll();
        if (request != null && request.arrived() != null) {
            return requestOf(request.arrived(), request);
        }
        if (end != null) {
            throw IdentifierFailures.of("wait for a request (rdma_get_cm_event)", end, toString(), timeoutNanos);
        }
        return null;
    }

    private ConnectionRequest requestOf(ConnectionIdentifier arrived, IdentifierEvent request) {
        boolean success = false;
        try {
            ConnectionRequest made = new IbvConnectionRequest(connections, arrived, request);
            success = true;
            return made;
        } finally {
            if (!success) {
                // The manager is being closed, and no other object knows the identifier.
                connections.channel().refuse(arrived);
            }
        }
    }

    @Override
    protected synchronized void onClosing() {
        closing = true;
        notifyAll();
    }

    @Override
    protected void doClose() {
        try {
            port.leave(this);
        } finally {
            for (IdentifierEvent request : requests) {
                if (request.arrived() != null) {
                    connections.channel().refuse(request.arrived());
                }
            }
            requests.clear();
        }
    }
}
