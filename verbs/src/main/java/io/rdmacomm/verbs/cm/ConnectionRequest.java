package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.Resource;
import io.rdmacomm.verbs.lifetime.Lifetime;
import io.rdmacomm.verbs.spi.ConnectionFacts;
import io.rdmacomm.verbs.spi.ConnectionRequestDriver;
import java.net.InetSocketAddress;
import java.time.Duration;

/// A peer's request for a connection (RDMA_CM_EVENT_CONNECT_REQUEST, rdma_get_cm_event(3)). Answer it once, with
/// [#accept] or [#reject]; closing it unanswered rejects it. Thread-safe.
public final class ConnectionRequest implements Resource {
    private static final String ACCEPT = "accept (rdma_accept)";

    private final ConnectionManager manager;
    private final ConnectionRequestDriver driver;
    private final ConnectionFacts facts;
    private final ConnectableChecks checks;
    private final Answer answer = new Answer(this);
    private final Lifetime lifetime;

    ConnectionRequest(ConnectionManager manager, ConnectionRequestDriver driver) {
        this.manager = manager;
        this.driver = driver;
        this.facts = driver.facts();
        this.checks = new ConnectableChecks(manager, this, driver::prepare);
        this.lifetime = new Lifetime(this, manager.lifetime(), driver, () -> answer.close(driver, driver::reject));
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

    /// The private data of the request. On InfiniBand and RoCE it is padded with zeros to the full size.
    public byte[] privateData() {
        return facts.privateData().clone();
    }

    /// The number of READs and atomics that the peer wants to have in flight.
    public int responderResources() {
        return facts.responderResources();
    }

    /// The number of READs and atomics that the peer accepts from this side.
    public int initiatorDepth() {
        return facts.initiatorDepth();
    }

    /// Moves a queue pair from RESET to INIT, so that receives can be posted before [#accept].
    ///
    /// @throws io.rdmacomm.verbs.VerbException EINVAL if the queue pair belongs to another context
    /// @throws io.rdmacomm.verbs.QueuePairStateException if it is not in RESET
    public void prepare(QueuePair queuePair) {
        lifetime.checkOpen();
        checks.prepare(queuePair);
    }

    /// Accepts with a queue pair and moves it to READY_TO_SEND (rdma_accept(3)). Blocks until the connection is
    /// established. The depths are reduced to those that the peer supports.
    ///
    /// @param queuePair in RESET or INIT; post receives first
    /// @param timeout the longest wait
    /// @throws io.rdmacomm.verbs.UnsupportedVerbException if the parameters set an acknowledgement timeout,
    ///         and the device lacks [io.rdmacomm.verbs.Capability#CONNECTION_ACK_TIMEOUT]
    /// @throws ConnectFailedException if the peer disconnected meanwhile
    /// @throws io.rdmacomm.verbs.DeadlineException if the timeout passed first
    /// @throws IllegalStateException if the request was already answered
    /// @throws io.rdmacomm.verbs.RdmaInterruptedException if the thread was interrupted
    public Connection accept(QueuePair queuePair, ConnectionParameters parameters, Duration timeout) {
        lifetime.checkOpen();
        manager.checkPrivateData(ACCEPT, parameters.privateData());
        manager.check(parameters);
        checks.makeReady(ACCEPT, queuePair);
        answer.give();
        return manager.established(
                queuePair,
                BlockingCall.of("accepting", this, () -> driver.accept(queuePair, parameters, timeout.toNanos())));
    }

    /// Rejects the connection (rdma_reject(3)). Does not wait for the peer.
    ///
    /// @param privateData bytes for the peer's program, for example the reason
    /// @throws IllegalStateException if the request was already answered
    public void reject(byte[] privateData) {
        lifetime.checkOpen();
        manager.checkPrivateData("reject (rdma_reject)", privateData);
        answer.give();
        driver.reject(privateData);
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
        return "connection request of " + remoteAddress() + " on " + manager.context();
    }
}
