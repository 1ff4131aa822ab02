package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.Resource;
import io.rdmacomm.verbs.lifetime.Lifetime;
import io.rdmacomm.verbs.spi.Driver;
import io.rdmacomm.verbs.spi.ListenerDriver;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Listens at an address for requests of one kind (rdma_listen(3)): for connections, or for the queue pair
/// that receives datagrams. Thread-safe. Closing it rejects the waiting requests; accepted connections stay
/// open.
///
/// @param <R> the kind of requests
public final class Listener<R extends Resource> implements Resource {
    /// Waits for a request of the driver, and wraps it for the user.
    interface Arrivals<R> {
        /// The next request; null after the timeout and when the listener is closing.
        @Nullable
        R await(long timeoutNanos) throws InterruptedException;
    }

    private final ConnectionManager manager;
    private final String kind;
    private final Supplier<InetSocketAddress> localAddress;
    private final Arrivals<R> arrivals;
    private final Lifetime lifetime;

    /// @param kind the name of a listener of this kind in messages
    /// @param wrap wraps a request, which the manager owns, for the user
    <D extends Driver> Listener(
            ConnectionManager manager, String kind, ListenerDriver<D> driver, RequestFactory<D, R> wrap) {
        this.manager = manager;
        this.kind = kind;
        this.localAddress = driver::localAddress;
        this.arrivals = timeoutNanos -> {
            D request = driver.awaitRequest(timeoutNanos);
            return request == null ? null : wrap.of(manager, request);
        };
        this.lifetime = new Lifetime(this, manager.lifetime(), driver);
    }

    /// Wraps an arrived request for the user.
    interface RequestFactory<D, R> {
        R of(ConnectionManager manager, D request);
    }

    /// The connection manager that it belongs to.
    public ConnectionManager manager() {
        return manager;
    }

    /// The address it listens at, with the actual port if port 0 was requested.
    public InetSocketAddress localAddress() {
        return localAddress.get();
    }

    /// Waits for the next request (rdma_get_cm_event(3), rdma_get_request(3)). Blocks. Closing the listener ends
    /// the wait.
    ///
    /// @param timeout the longest wait; zero to poll
    /// @return the request, which the caller answers or closes; null after the timeout
    /// @throws io.rdmacomm.verbs.RdmaInterruptedException if the thread was interrupted
    /// @throws IllegalStateException if the listener is closed, or is being closed
    public @Nullable R awaitRequest(Duration timeout) {
        lifetime.checkOpen();
        R request =
                BlockingCall.<@Nullable R>of("waiting for a request at", this, () -> arrivals.await(timeout.toNanos()));
        if (request == null) {
            lifetime.checkOpen();
        }
        return request;
    }

    Lifetime lifetime() {
        return lifetime;
    }

    @Override
    public boolean isOpen() {
        return lifetime.isOpen();
    }

    @Override
    public void close() {
        lifetime.close();
    }

    @Override
    public String toString() {
        return kind + " at " + localAddress() + " on " + manager.context();
    }
}
