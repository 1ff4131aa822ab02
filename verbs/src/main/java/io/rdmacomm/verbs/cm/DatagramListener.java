package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.Resource;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Tells programs that ask at an address which queue pair receives datagrams (rdma_listen(3) in the port space
/// `RDMA_PS_UDP`). Thread-safe. Closing it rejects the waiting requests.
public abstract class DatagramListener extends Resource {
    private final ConnectionManager manager;

    /// For providers.
    protected DatagramListener(ConnectionManager manager) {
        super(manager);
        this.manager = manager;
    }

    /// The connection manager that it belongs to.
    public final ConnectionManager manager() {
        return manager;
    }

    /// The address it listens at, with the actual port if port 0 was requested.
    public abstract InetSocketAddress localAddress();

    /// Waits for the next request (rdma_get_cm_event(3)). Blocks. Closing the listener ends the wait.
    ///
    /// @param timeout the longest wait; zero to poll
    /// @return the request, which the caller answers or closes; null after the timeout
    /// @throws InterruptedException if the thread was interrupted
    /// @throws IllegalStateException if the listener is closed, or is being closed
    public final @Nullable DatagramRequest awaitRequest(Duration timeout) throws InterruptedException {
        checkOpen();
        DatagramRequest request = doAwaitRequest(timeout.toNanos());
        if (request == null) {
            checkOpen();
            return null;
        }
        return manager.arrived(request);
    }

    @Override
    public final String toString() {
        return "datagram listener at " + localAddress() + " on " + manager.context();
    }

    /// Waits for [#awaitRequest]; null after the timeout and when the listener is closing.
    protected abstract @Nullable DatagramRequest doAwaitRequest(long timeoutNanos) throws InterruptedException;
}
