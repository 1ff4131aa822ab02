package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.QueuePair;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/// A peer's wish for a connection (RDMA_CM_EVENT_CONNECT_REQUEST, rdma_get_cm_event(3)). It is answered once, with
/// [#accept] or [#reject]; closing it unanswered rejects it. Usable from any thread.
public abstract class ConnectionRequest extends CommunicationIdentifier {
    private static final String ACCEPT = "accept (rdma_accept)";

    private final AtomicBoolean answered = new AtomicBoolean();

    /// For providers.
    protected ConnectionRequest(ConnectionManager manager) {
        super(manager);
    }

    /// The bytes that the peer's program sent along; on InfiniBand and RoCE padded with zeros to the full size.
    public abstract byte[] privateData();

    /// READs and atomics that the peer wants to have outstanding towards this side: what to hold resources for.
    public abstract int responderResources();

    /// READs and atomics that the peer can hold for this side.
    public abstract int initiatorDepth();

    /// Brings a queue pair from RESET to INIT, so that receives can be posted before [#accept].
    ///
    /// @throws io.rdmacomm.verbs.VerbException EINVAL if the queue pair is of another context
    /// @throws io.rdmacomm.verbs.QueuePairStateException if it is not in RESET
    public final void prepare(QueuePair queuePair) {
        prepareQueuePair(queuePair);
    }

    /// Accepts with a queue pair and brings it to READY_TO_SEND (rdma_accept(3)). Blocks until the connection
    /// stands. The depths are lowered to what the peer can do.
    ///
    /// @param queuePair in RESET or INIT; post receives before
    /// @param timeout how long to wait at the most
    /// @throws ConnectFailedException if the peer went away meanwhile
    /// @throws ConnectionTimeoutException if it took longer than allowed
    /// @throws IllegalStateException if the request was answered before
    /// @throws InterruptedException if the thread was interrupted
    public final Connection accept(QueuePair queuePair, ConnectionParameters parameters, Duration timeout)
            throws InterruptedException {
        checkOpen();
        checkPrivateData(ACCEPT, parameters.privateData());
        makeReady(ACCEPT, queuePair);
        answer();
        return manager().established(doAccept(queuePair, parameters, timeout.toNanos()));
    }

    /// Refuses the connection (rdma_reject(3)). Does not wait for the peer.
    ///
    /// @param privateData bytes that tell the peer's program why
    /// @throws IllegalStateException if the request was answered before
    public final void reject(byte[] privateData) {
        checkOpen();
        checkPrivateData("reject (rdma_reject)", privateData);
        answer();
        doReject(privateData);
    }

    private void answer() {
        if (!answered.compareAndSet(false, true)) {
            throw new IllegalStateException(this + " was answered before");
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

    /// Refuses for [#reject] and for a request that is closed unanswered.
    protected abstract void doReject(byte[] privateData);

    /// Releases what the provider holds for an answered request.
    protected abstract void doRelease();
}
