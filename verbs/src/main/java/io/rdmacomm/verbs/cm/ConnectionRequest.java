package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.QueuePair;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/// A peer's request for a connection (RDMA_CM_EVENT_CONNECT_REQUEST, rdma_get_cm_event(3)). Answer it once, with
/// [#accept] or [#reject]; closing it unanswered rejects it. Thread-safe.
public abstract class ConnectionRequest extends CommunicationIdentifier {
    private static final String ACCEPT = "accept (rdma_accept)";

    private final AtomicBoolean answered = new AtomicBoolean();

    /// For providers.
    protected ConnectionRequest(ConnectionManager manager) {
        super(manager);
    }

    /// The private data of the request. On InfiniBand and RoCE it is padded with zeros to the full size.
    public abstract byte[] privateData();

    /// The number of READs and atomics that the peer wants to have in flight.
    public abstract int responderResources();

    /// The number of READs and atomics that the peer accepts from this side.
    public abstract int initiatorDepth();

    /// Takes a queue pair from RESET to INIT, so that receives can be posted before [#accept].
    ///
    /// @throws io.rdmacomm.verbs.VerbException EINVAL if the queue pair belongs to another context
    /// @throws io.rdmacomm.verbs.QueuePairStateException if it is not in RESET
    public final void prepare(QueuePair queuePair) {
        prepareQueuePair(queuePair);
    }

    /// Accepts with a queue pair and takes it to READY_TO_SEND (rdma_accept(3)). Blocks until the connection is
    /// established. The depths are reduced to those that the peer supports.
    ///
    /// @param queuePair in RESET or INIT; post receives first
    /// @param timeout the longest wait
    /// @throws io.rdmacomm.verbs.UnsupportedVerbException if the parameters name an acknowledgement timeout,
    ///         and the device lacks [io.rdmacomm.verbs.Capability#CONNECTION_ACK_TIMEOUT]
    /// @throws ConnectFailedException if the peer disconnected meanwhile
    /// @throws ConnectionTimeoutException if the timeout passed first
    /// @throws IllegalStateException if the request was already answered
    /// @throws InterruptedException if the thread was interrupted
    public final Connection accept(QueuePair queuePair, ConnectionParameters parameters, Duration timeout)
            throws InterruptedException {
        checkOpen();
        checkPrivateData(ACCEPT, parameters.privateData());
        manager().check(parameters);
        makeReady(ACCEPT, queuePair);
        answer();
        return manager().established(doAccept(queuePair, parameters, timeout.toNanos()));
    }

    /// Rejects the connection (rdma_reject(3)). Does not wait for the peer.
    ///
    /// @param privateData bytes for the peer's program, for example the reason
    /// @throws IllegalStateException if the request was already answered
    public final void reject(byte[] privateData) {
        checkOpen();
        checkPrivateData("reject (rdma_reject)", privateData);
        answer();
        doReject(privateData);
    }

    private void answer() {
        if (!answered.compareAndSet(false, true)) {
            throw new IllegalStateException(this + " was already answered");
        }
    }

    @Override
    protected final void doClose() {
        try {
            if (answered.compareAndSet(false, true)) {
                doReject(new byte[0]);
            }
        } finally {
            doRelease();
        }
    }

    @Override
    public final String toString() {
        return "connection request of " + remoteAddress() + " on " + manager().context();
    }

    /// Accepts for [#accept]; what it returns no longer depends on this request.
    protected abstract Connection doAccept(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos)
            throws InterruptedException;

    /// Rejects for [#reject] and for a request that is closed unanswered.
    protected abstract void doReject(byte[] privateData);

    /// Releases the provider's resources of an answered request.
    protected abstract void doRelease();
}
