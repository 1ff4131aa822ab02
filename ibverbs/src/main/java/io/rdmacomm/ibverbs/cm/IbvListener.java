package io.rdmacomm.ibverbs.cm;

import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.Listener;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// An identifier that listens (rdma_listen(3)), and the requests that arrived.
///
/// The kernel's own backlog ends where an event is read, which happens at once: so it is kept here, and what does
/// not fit is refused.
final class IbvListener extends Listener {
    private final IbvConnectionManager connections;
    private final ConnectionIdentifier identifier;
    private final InetSocketAddress address;
    private final int backlog;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Deque<IdentifierEvent> requests = new ArrayDeque<>();
    private @Nullable IdentifierEvent end;
    private boolean closing;

    IbvListener(IbvConnectionManager connections, ConnectionIdentifier identifier, int backlog) {
        super(connections);
        this.connections = connections;
        this.identifier = identifier;
        this.backlog = backlog;
        this.address = identifier.localAddress();
        identifier.handOver(connections, this, this::occurred);
    }

    @Override
    public InetSocketAddress localAddress() {
        return address;
    }

    private void occurred(IdentifierEvent event) {
        ConnectionIdentifier arrived = event.arrived();
        if (arrived == null) {
            end(event);
        } else if (!connections.isThisDevice(arrived.deviceName()) || !keep(event)) {
            connections.channel().refuse(arrived);
        }
    }

    /// The only other event of an identifier that listens is that its device went away.
    private void end(IdentifierEvent event) {
        lock.lock();
        try {
            end = event;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private boolean keep(IdentifierEvent event) {
        lock.lock();
        try {
            boolean room = !closing && requests.size() < backlog;
            if (room) {
                requests.add(event);
                changed.signal();
            }
            return room;
        } finally {
            lock.unlock();
        }
    }

    @Override
    protected @Nullable ConnectionRequest doAwaitRequest(long timeoutNanos) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = timeoutNanos;
            while (requests.isEmpty() && end == null && left > 0 && !closing) {
                left = changed.awaitNanos(left);
            }
            if (closing) {
                return null;
            }
            IdentifierEvent request = requests.poll();
            ConnectionIdentifier arrived = request == null ? null : request.arrived();
            if (request != null && arrived != null) {
                return requestOf(arrived, request);
            }
            VerbException failure = end == null
                    ? null
                    : IdentifierFailures.of("wait for a request (rdma_get_cm_event)", end, toString(), timeoutNanos);
            if (failure != null) {
                throw failure;
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    private ConnectionRequest requestOf(ConnectionIdentifier arrived, IdentifierEvent request) {
        boolean success = false;
        try {
            ConnectionRequest made = new IbvConnectionRequest(connections, arrived, request);
            success = true;
            return made;
        } finally {
            if (!success) {
                // The manager is being closed, and nobody else knows of it any more.
                connections.channel().refuse(arrived);
            }
        }
    }

    @Override
    protected void onClosing() {
        lock.lock();
        try {
            closing = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    protected void doClose() {
        try {
            identifier.destroy(this);
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
