package io.rdmacomm.ibverbs.cm;

import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.cm.Connection;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// An identifier that is connected.
///
/// When the peer ends the connection, the thread of the event channel answers and fails the queue pair at once:
/// the program may be waiting for completions of it, and for nothing else.
final class IbvConnection extends Connection {
    private static final String ENDED_HERE = "this side disconnected";
    /// How long ending a connection waits for the peer to know.
    private static final long MOMENT_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final IbvConnectionManager connections;
    private final ConnectionTransitions transitions;
    private final ConnectionIdentifier identifier;
    private final InetSocketAddress local;
    private final InetSocketAddress remote;
    private final byte[] privateData;
    private final ConnectionDepths depths;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private @Nullable String reason;
    private boolean asked;
    private boolean over;
    private boolean closing;

    IbvConnection(
            IbvConnectionManager connections,
            ConnectionIdentifier identifier,
            QueuePair queuePair,
            InetSocketAddress local,
            InetSocketAddress remote,
            byte[] privateData,
            ConnectionDepths depths) {
        super(connections, queuePair);
        this.connections = connections;
        this.transitions = connections.transitions();
        this.identifier = identifier;
        this.local = local;
        this.remote = remote;
        this.privateData = privateData;
        this.depths = depths;
    }

    @Override
    public InetSocketAddress localAddress() {
        return local;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return remote;
    }

    @Override
    public byte[] privateData() {
        return privateData.clone();
    }

    @Override
    public int responderResources() {
        return depths.responderResources();
    }

    @Override
    public int initiatorDepth() {
        return depths.initiatorDepth();
    }

    @Override
    public @Nullable String disconnectReason() {
        lock.lock();
        try {
            return reason;
        } finally {
            lock.unlock();
        }
    }

    /// Something was reported; called by the channel's thread, or by the one that made the connection.
    void occurred(IdentifierEvent event) {
        switch (event.type()) {
            case DISCONNECTED -> ended("the peer disconnected, or its host is gone");
            case DEVICE_REMOVAL -> ended("the device went away");
            // Also what follows an end: TIMEWAIT_EXIT. The address of a device may change under a connection.
            default -> {}
        }
    }

    private void ended(String why) {
        boolean peerWaits;
        lock.lock();
        try {
            peerWaits = !asked && !over;
            over = true;
        } finally {
            lock.unlock();
        }
        try {
            transitions.fail(queuePair());
            if (peerWaits && !transitions.isIwarp()) {
                // The answer to the peer's request, which it would otherwise repeat for a minute.
                disconnectInC();
            }
        } finally {
            publish(peerWaits ? why : ENDED_HERE);
        }
    }

    /// The errno tells nothing: the peer may have been faster.
    private void disconnectInC() {
        try {
            int _ = identifier.call(connections.library()::disconnect);
        } catch (IllegalStateException e) {
            // Closed meanwhile, which disconnects as well.
        }
    }

    private void publish(String why) {
        lock.lock();
        try {
            if (reason == null) {
                reason = why;
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    protected void doDisconnect() {
        lock.lock();
        try {
            if (asked || over) {
                return;
            }
            asked = true;
        } finally {
            lock.unlock();
        }
        try {
            if (transitions.isIwarp()) {
                // What was posted is sent before the end of the stream; failing the queue pair now would cut it off.
                disconnectInC();
                awaitOver();
                transitions.fail(queuePair());
            } else {
                transitions.fail(queuePair());
                disconnectInC();
            }
        } finally {
            publish(ENDED_HERE);
        }
    }

    /// Waits a moment for the event that says that the peer knows.
    private void awaitOver() {
        lock.lock();
        try {
            long left = MOMENT_NANOS;
            while (!over && left > 0) {
                left = changed.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    @Override
    protected boolean doAwaitDisconnect(long timeoutNanos) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = timeoutNanos;
            while (reason == null && !closing && left > 0) {
                left = changed.awaitNanos(left);
            }
            return reason != null || closing;
        } finally {
            lock.unlock();
        }
    }

    @Override
    protected void onClosing() {
        lock.lock();
        try {
            closing = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    protected void doClose() {
        try {
            doDisconnect();
            awaitOver();
        } finally {
            identifier.destroy(this);
        }
    }
}
