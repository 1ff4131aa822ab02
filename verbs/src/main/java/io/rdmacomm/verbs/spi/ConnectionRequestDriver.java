package io.rdmacomm.verbs.spi;

import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.cm.ConnectionParameters;

/// A peer's request for a connection ([io.rdmacomm.verbs.cm.ConnectionRequest]). Thread-safe. It is answered
/// once before it is closed.
public interface ConnectionRequestDriver extends Driver {
    /// The addresses, and what the peer has sent.
    ConnectionFacts facts();

    /// Moves a queue pair of the same context from RESET to INIT, with all rights for the peer as rdma_create_qp(3)
    /// does.
    default void prepare(QueuePair queuePair) {
        queuePair.initialize(ConnectionOptions.defaults());
    }

    /// Accepts with a queue pair in INIT (rdma_accept(3)) and moves it to READY_TO_SEND. The connection no longer
    /// depends on this request.
    ConnectionDriver accept(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos)
            throws InterruptedException;

    /// Rejects the connection (rdma_reject(3)). Does not wait for the peer.
    void reject(byte[] privateData);
}
