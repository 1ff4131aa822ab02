package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.QueuePair;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// A connected queue pair (rdma_cm(7)). Thread-safe. Closing the connection disconnects it and takes the queue
/// pair to ERROR; its owner closes the queue pair.
public abstract class Connection extends CommunicationIdentifier {
    private final QueuePair queuePair;

    /// For providers.
    protected Connection(ConnectionManager manager, QueuePair queuePair) {
        super(manager);
        this.queuePair = queuePair;
    }

    /// The queue pair that is connected.
    public final QueuePair queuePair() {
        return queuePair;
    }

    /// The private data of the peer's request or reply. On InfiniBand and RoCE it is padded with zeros to the full
    /// size.
    public abstract byte[] privateData();

    /// The number of READs and atomics that the peer may have in flight, as negotiated.
    public abstract int responderResources();

    /// The number of READs and atomics that this side may have in flight, as negotiated.
    public abstract int initiatorDepth();

    /// Whether the connection is established, as far as this side knows.
    public final boolean isConnected() {
        return isOpen() && disconnectReason() == null;
    }

    /// The reason why the connection ended, in one line; null while it is established.
    public abstract @Nullable String disconnectReason();

    /// Ends the connection (rdma_disconnect(3)): the queue pair enters ERROR and flushes the queued requests. On
    /// iWARP, requests posted before are sent first, if the peer accepts them promptly. Does nothing if the
    /// connection has already ended.
    public final void disconnect() {
        checkOpen();
        doDisconnect();
    }

    /// Waits until the connection has ended (RDMA_CM_EVENT_DISCONNECTED). Blocks. Closing the connection ends the
    /// wait.
    ///
    /// @param timeout the longest wait; zero to poll
    /// @return whether it has ended
    /// @throws InterruptedException if the thread was interrupted
    public final boolean awaitDisconnect(Duration timeout) throws InterruptedException {
        return !isOpen() || doAwaitDisconnect(timeout.toNanos());
    }

    @Override
    public final String toString() {
        return "connection of " + queuePair + " to " + remoteAddress();
    }

    @Override
    protected final void doPrepare(QueuePair other) {
        throw new IllegalStateException(this + " already has its queue pair");
    }

    /// Disconnects for [#disconnect]; does nothing if the connection has ended.
    protected abstract void doDisconnect();

    /// Waits for [#awaitDisconnect]; true if the connection has ended or is closing.
    protected abstract boolean doAwaitDisconnect(long timeoutNanos) throws InterruptedException;
}
