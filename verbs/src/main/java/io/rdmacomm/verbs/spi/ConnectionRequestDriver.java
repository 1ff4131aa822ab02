package io.rdmacomm.verbs.spi;

import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.cm.ConnectionParameters;

/// A peer's request for a connection ([io.rdmacomm.verbs.cm.ConnectionRequest]). Thread-safe. It is answered
/// once before it is closed.
public interface ConnectionRequestDriver extends IdentifierDriver {
    /// The private data of the request.
    byte[] privateData();

    /// The number of READs and atomics that the peer wants to have in flight.
    int responderResources();

    /// The number of READs and atomics that the peer accepts from this side.
    int initiatorDepth();

    /// Moves a queue pair of the same context from RESET to INIT with [QueuePair#modify].
    void prepare(QueuePair queuePair);

    /// Accepts with a queue pair in INIT (rdma_accept(3)) and moves it to READY_TO_SEND. The connection no longer
    /// depends on this request.
    ConnectionDriver accept(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos)
            throws InterruptedException;

    /// Rejects the connection (rdma_reject(3)). Does not wait for the peer.
    void reject(byte[] privateData);
}
