package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.QueuePair;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/// The way to a peer that was found and not yet taken (rdma_resolve_route(3)). Usable from any thread; leads to
/// one connection at the most.
public abstract class Route extends CommunicationIdentifier {
    private static final String CONNECT = "connect (rdma_connect)";

    private final AtomicBoolean used = new AtomicBoolean();

    /// For providers.
    protected Route(ConnectionManager manager) {
        super(manager);
    }

    /// Brings a queue pair from RESET to INIT, so that receives can be posted before [#connect].
    ///
    /// @throws io.rdmacomm.verbs.VerbException EINVAL if the queue pair is of another context
    /// @throws io.rdmacomm.verbs.QueuePairStateException if it is not in RESET
    public final void prepare(QueuePair queuePair) {
        prepareQueuePair(queuePair);
    }

    /// Connects a queue pair to the peer (rdma_connect(3)) and brings it to READY_TO_SEND. Blocks. On iWARP this
    /// side sends the first message, unless the peer confirmed that it need not.
    ///
    /// @param queuePair in RESET or INIT; the peer may send as soon as the connection stands, so post receives
    ///         before
    /// @param timeout how long to wait at the most
    /// @throws ConnectionRejectedException if the peer refused
    /// @throws PeerUnreachableException if nobody answered at that address
    /// @throws ConnectFailedException if it failed in another way
    /// @throws ConnectionTimeoutException if it took longer than allowed
    /// @throws IllegalStateException if the route was used before
    /// @throws InterruptedException if the thread was interrupted
    public final Connection connect(QueuePair queuePair, ConnectionParameters parameters, Duration timeout)
            throws InterruptedException {
        checkOpen();
        checkPrivateData(CONNECT, parameters.privateData());
        makeReady(CONNECT, queuePair);
        if (!used.compareAndSet(false, true)) {
            throw new IllegalStateException(this + " was used; resolve a new one for each connection");
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
