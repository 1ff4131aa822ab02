package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.Resource;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Listens for requests of one kind at an address (rdma_listen(3)). Thread-safe. Closing it rejects the waiting
/// requests.
///
/// @param <R> the kind of requests
public abstract sealed class RequestListener<R extends Resource> extends Resource permits Listener, DatagramListener {
    private final ConnectionManager manager;

    RequestListener(ConnectionManager manager) {
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
    public final @Nullable R awaitRequest(Duration timeout) throws InterruptedException {
        checkOpen();
        R request = doAwaitRequest(timeout.toNanos());
        if (request == null) {
            checkOpen();
            return null;
        }
        return manager.arrived(request);
    }

    /// Waits for [#awaitRequest]; null after the timeout and when the listener is closing.
    protected abstract @Nullable R doAwaitRequest(long timeoutNanos) throws InterruptedException;
}
