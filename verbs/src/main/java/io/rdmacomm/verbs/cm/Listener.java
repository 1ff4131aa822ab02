package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.Resource;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Listens for connection requests at an address (rdma_listen(3)). Thread-safe. Closing it rejects the waiting
/// requests; accepted connections stay open.
public abstract class Listener extends Resource {
    private final ConnectionManager manager;

    /// For providers.
    protected Listener(ConnectionManager manager) {
        super(manager);
        this.manager = manager;
    }

    /// The connection manager that it belongs to.
    public final ConnectionManager manager() {
        return manager;
    }

    /// The address it listens at, with the actual port if port 0 was requested.
    public abstract InetSocketAddress localAddress();

    /// Waits for the next request (rdma_get_cm_event(3), rdma_get_request(3)). Blocks. Closing the listener ends
    /// the wait.
    ///
    /// @param timeout the longest wait; zero to poll
    /// @return the request, which the caller answers or closes; null after the timeout
    /// @throws InterruptedException if the thread was interrupted
    /// @throws IllegalStateException if the listener is closed, or is being closed
    public final @Nullable ConnectionRequest awaitRequest(Duration timeout) throws InterruptedException {
        checkOpen();
        ConnectionRequest request = doAwaitRequest(timeout.toNanos());
        if (request == null) {
            checkOpen();
            return null;
        }
        return manager.arrived(request);
    }

    @Override
    public final String toString() {
        return "listener at " + localAddress() + " on " + manager.context();
    }

    /// Waits for [#awaitRequest]; null after the timeout and when the listener is closing.
    protected abstract @Nullable ConnectionRequest doAwaitRequest(long timeoutNanos) throws InterruptedException;
}
