package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.Resource;
import io.rdmacomm.verbs.lifetime.Lifetime;
import io.rdmacomm.verbs.spi.RouteDriver;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/// A resolved route to a peer (rdma_resolve_route(3)). Thread-safe. Valid for one connection.
public final class Route implements Resource {
    private static final String CONNECT = "connect (rdma_connect)";

    private final AtomicBoolean used = new AtomicBoolean();
    private final ConnectionManager manager;
    private final RouteDriver driver;
    private final ConnectableChecks checks;
    private final Lifetime lifetime;

    Route(ConnectionManager manager, RouteDriver driver) {
        this.manager = manager;
        this.driver = driver;
        this.checks = new ConnectableChecks(manager, this, driver::prepare);
        this.lifetime = new Lifetime(this, manager.lifetime(), driver);
    }

    /// The connection manager that it belongs to.
    public ConnectionManager manager() {
        return manager;
    }

    /// The address on this side (rdma_get_local_addr(3)).
    public InetSocketAddress localAddress() {
        return driver.localAddress();
    }

    /// The address of the peer (rdma_get_peer_addr(3)).
    public InetSocketAddress remoteAddress() {
        return driver.remoteAddress();
    }

    /// Moves a queue pair from RESET to INIT, so that receives can be posted before [#connect].
    ///
    /// @throws io.rdmacomm.verbs.VerbException EINVAL if the queue pair belongs to another context
    /// @throws io.rdmacomm.verbs.QueuePairStateException if it is not in RESET
    public void prepare(QueuePair queuePair) {
        lifetime.checkOpen();
        checks.prepare(queuePair);
    }

    /// Connects a queue pair to the peer (rdma_connect(3)) and moves it to READY_TO_SEND. Blocks. On iWARP, this
    /// side must send the first message, unless the peer has confirmed otherwise.
    ///
    /// @param queuePair in RESET or INIT; post receives first, as the peer may send as soon as the connection is
    ///         established
    /// @param timeout the longest wait
    /// @throws io.rdmacomm.verbs.UnsupportedVerbException if the parameters set an acknowledgement timeout,
    ///         and the device lacks [io.rdmacomm.verbs.Capability#CONNECTION_ACK_TIMEOUT]
    /// @throws ConnectionRejectedException if the peer rejected the connection
    /// @throws PeerUnreachableException if the peer did not reply
    /// @throws ConnectFailedException if connecting failed otherwise
    /// @throws io.rdmacomm.verbs.DeadlineException if the timeout passed first
    /// @throws IllegalStateException if the route was already used
    /// @throws io.rdmacomm.verbs.RdmaInterruptedException if the thread was interrupted
    public Connection connect(QueuePair queuePair, ConnectionParameters parameters, Duration timeout) {
        lifetime.checkOpen();
        manager.checkPrivateData(CONNECT, parameters.privateData());
        manager.check(parameters);
        checks.makeReady(CONNECT, queuePair);
        if (!used.compareAndSet(false, true)) {
            throw new IllegalStateException(this + " was already used; resolve a new route for each connection");
        }
        return manager.established(
                queuePair,
                BlockingCall.of("connecting by", this, () -> driver.connect(queuePair, parameters, timeout.toNanos())));
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
        return "route to " + remoteAddress() + " on " + manager.context();
    }
}
