package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.QueuePair;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/// A resolved route to a peer (rdma_resolve_route(3)). Thread-safe. Good for one connection.
public abstract class Route extends CommunicationIdentifier {
    private static final String CONNECT = "connect (rdma_connect)";

    private final AtomicBoolean used = new AtomicBoolean();

    /// For providers.
    protected Route(ConnectionManager manager) {
        super(manager);
    }

    /// Takes a queue pair from RESET to INIT, so that receives can be posted before [#connect].
    ///
    /// @throws io.rdmacomm.verbs.VerbException EINVAL if the queue pair belongs to another context
    /// @throws io.rdmacomm.verbs.QueuePairStateException if it is not in RESET
    public final void prepare(QueuePair queuePair) {
        prepareQueuePair(queuePair);
    }

    /// Connects a queue pair to the peer (rdma_connect(3)) and takes it to READY_TO_SEND. Blocks. On iWARP this
    /// side must send the first message, unless the peer confirmed that it need not.
    ///
    /// @param queuePair in RESET or INIT; post receives first, as the peer may send as soon as the connection is
    ///         established
    /// @param timeout the longest wait
    /// @throws io.rdmacomm.verbs.UnsupportedVerbException if the parameters name an acknowledgement timeout,
    ///         and the device lacks [io.rdmacomm.verbs.Capability#CONNECTION_ACK_TIMEOUT]
    /// @throws ConnectionRejectedException if the peer rejected the connection
    /// @throws PeerUnreachableException if the peer did not reply
    /// @throws ConnectFailedException if connecting failed in another way
    /// @throws ConnectionTimeoutException if the timeout passed first
    /// @throws IllegalStateException if the route was already used
    /// @throws InterruptedException if the thread was interrupted
    public final Connection connect(QueuePair queuePair, ConnectionParameters parameters, Duration timeout)
            throws InterruptedException {
        checkOpen();
        checkPrivateData(CONNECT, parameters.privateData());
        manager().check(parameters);
        makeReady(CONNECT, queuePair);
        if (!used.compareAndSet(false, true)) {
            throw new IllegalStateException(this + " was already used; resolve a new route for each connection");
        }
        return manager().established(doConnect(queuePair, parameters, timeout.toNanos()));
    }

    @Override
    public final String toString() {
        return "route to " + remoteAddress() + " on " + manager().context();
    }

    /// Connects for [#connect]; what it returns no longer depends on this route.
    protected abstract Connection doConnect(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos)
            throws InterruptedException;
}
