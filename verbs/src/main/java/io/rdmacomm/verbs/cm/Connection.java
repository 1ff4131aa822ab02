package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.Resource;
import io.rdmacomm.verbs.lifetime.Lifetime;
import io.rdmacomm.verbs.service.ExitHook;
import io.rdmacomm.verbs.spi.ConnectionDriver;
import io.rdmacomm.verbs.spi.ConnectionFacts;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// A connected queue pair (rdma_cm(7)). Thread-safe. Closing the connection disconnects it and moves the queue pair
/// to ERROR; its owner closes the queue pair. At its exit, after its shutdown hooks, a JVM disconnects all its
/// connections.
public final class Connection implements Resource {
    private final ConnectionManager manager;
    private final QueuePair queuePair;
    private final ConnectionDriver driver;
    private final ConnectionFacts facts;
    private final Lifetime lifetime;

    Connection(ConnectionManager manager, QueuePair queuePair, ConnectionDriver driver) {
        this.manager = manager;
        this.queuePair = queuePair;
        this.driver = driver;
        this.facts = driver.facts();
        this.lifetime = new Lifetime(this, manager.lifetime(), driver);
        ExitHook.add(this, this::disconnectAtExit);
        var _ = driver.ended().thenRun(() -> ExitHook.remove(this));
    }

    private void disconnectAtExit() {
        if (isOpen()) {
            driver.disconnect();
        }
        driver.awaitConfirmation(ExitHook.MOST_NANOS);
    }

    /// The connection manager that it belongs to.
    public ConnectionManager manager() {
        return manager;
    }

    /// The address on this side (rdma_get_local_addr(3)).
    public InetSocketAddress localAddress() {
        return facts.local();
    }

    /// The address of the peer (rdma_get_peer_addr(3)).
    public InetSocketAddress remoteAddress() {
        return facts.remote();
    }

    /// The connected queue pair.
    public QueuePair queuePair() {
        return queuePair;
    }

    /// The private data of the peer's request or reply. On InfiniBand and RoCE it is padded with zeros to the full
    /// size.
    public byte[] privateData() {
        return facts.privateData().clone();
    }

    /// The number of READs and atomics that the peer may have in flight, as negotiated.
    public int responderResources() {
        return facts.responderResources();
    }

    /// The number of READs and atomics that this side may have in flight, as negotiated.
    public int initiatorDepth() {
        return facts.initiatorDepth();
    }

    /// Whether the connection is established, as known to this side.
    public boolean isConnected() {
        return isOpen() && disconnectReason() == null;
    }

    /// The reason why the connection ended, in one line; null while it is established.
    public @Nullable String disconnectReason() {
        return driver.disconnectReason();
    }

    /// Ends the connection (rdma_disconnect(3)): the queue pair enters ERROR and flushes the queued requests. On
    /// iWARP, requests posted before are sent first, if the peer accepts them promptly. Does nothing if the
    /// connection has already ended.
    public void disconnect() {
        lifetime.checkOpen();
        driver.disconnect();
    }

    /// Waits until the connection has ended (RDMA_CM_EVENT_DISCONNECTED). Blocks. Closing the connection ends the
    /// wait.
    ///
    /// @param timeout the longest wait; zero to poll
    /// @return whether it has ended
    /// @throws io.rdmacomm.verbs.RdmaInterruptedException if the thread was interrupted
    public boolean awaitDisconnect(Duration timeout) {
        return !isOpen() || BlockingCall.of("waiting for the end of", this, () -> hasEnded(timeout));
    }

    private boolean hasEnded(Duration timeout) throws InterruptedException {
        try {
            driver.ended().get(timeout.toNanos(), TimeUnit.NANOSECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            throw new IllegalStateException("the end of " + this + " is not a failure", e);
        }
    }

    /// Completes with the reason when the connection has ended (RDMA_CM_EVENT_DISCONNECTED), even if this side has
    /// ended or closed it. So no thread has to wait for the end of each connection. Dependent actions run in a
    /// virtual thread and may block. Canceling it has no effect.
    public CompletableFuture<String> onDisconnect() {
        return driver.ended().thenApplyAsync(reason -> reason, Thread::startVirtualThread);
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
        return "connection of " + queuePair + " to " + remoteAddress();
    }
}
