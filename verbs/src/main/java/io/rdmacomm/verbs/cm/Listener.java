package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.Resource;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Waits for connection requests at an address (rdma_listen(3)). Usable from any thread. Closing it refuses the
/// requests that nobody took; connections that were accepted live on.
public abstract class Listener extends Resource {
    private final ConnectionManager manager;

    /// For providers.
    protected Listener(ConnectionManager manager) {
        super(manager);
        this.manager = manager;
    }

    /// The connection manager it belongs to.
    public final ConnectionManager manager() {
        return manager;
    }

    /// Where it listens, with the port that was chosen when 0 was asked for.
    public abstract InetSocketAddress localAddress();

    /// Waits for the next request (rdma_get_cm_event(3), rdma_get_request(3)). Blocks; closing the listener wakes
    /// it.
    ///
    /// @param timeout how long to wait at the most; zero to look only
    /// @return the request, which the caller answers or closes; null when there was none in time
    /// @throws InterruptedException if the thread was interrupted
    /// @throws IllegalStateException if the listener is or gets closed
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

    /// Waits for [#awaitRequest]; null on time-out and when the listener is closing.
    protected abstract @Nullable ConnectionRequest doAwaitRequest(long timeoutNanos) throws InterruptedException;
}
