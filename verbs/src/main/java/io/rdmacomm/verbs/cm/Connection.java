package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.QueuePair;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// A queue pair with its peer (rdma_cm(7)). Usable from any thread. Closing it disconnects; the queue pair, which
/// goes to ERROR then, stays its owner's to close.
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

    /// The bytes that the peer's program sent along with its answer or request; on InfiniBand and RoCE padded with
    /// zeros to the full size.
    public abstract byte[] privateData();

    /// READs and atomics of the peer that this side holds at once, as agreed.
    public abstract int responderResources();

    /// READs and atomics that this side may have outstanding at once, as agreed.
    public abstract int initiatorDepth();

    /// Whether neither side has ended the connection, as far as this side knows.
    public final boolean isConnected() {
        return isOpen() && disconnectReason() == null;
    }

    /// Why the connection ended, in a line for people; null while it stands.
    public abstract @Nullable String disconnectReason();

    /// Ends the connection (rdma_disconnect(3)): the queue pair goes to ERROR and flushes what is still queued. On
    /// iWARP, what was posted before is sent first, as long as the peer takes it within a moment. Does nothing
    /// when it has ended already.
    public final void disconnect() {
        checkOpen();
        doDisconnect();
    }

    /// Waits until the connection has ended (RDMA_CM_EVENT_DISCONNECTED). Blocks; closing it wakes the waiter.
    ///
    /// @param timeout how long to wait at the most; zero to look only
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
        throw new IllegalStateException(this + " has its queue pair already");
    }

    /// Disconnects for [#disconnect]; does nothing when it has ended.
    protected abstract void doDisconnect();

    /// Waits for [#awaitDisconnect]; true when it has ended or is closing.
    protected abstract boolean doAwaitDisconnect(long timeoutNanos) throws InterruptedException;
}
