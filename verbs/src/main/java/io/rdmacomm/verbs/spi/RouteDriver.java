package io.rdmacomm.verbs.spi;

import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import java.net.InetSocketAddress;

/// A resolved route ([io.rdmacomm.verbs.cm.Route]). Thread-safe.
public interface RouteDriver extends Driver {
    /// The address on this side (rdma_get_local_addr(3)).
    InetSocketAddress localAddress();

    /// The address of the peer (rdma_get_peer_addr(3)).
    InetSocketAddress remoteAddress();

    /// Moves a queue pair of the same context from RESET to INIT, with all rights for the peer as rdma_create_qp(3)
    /// does.
    default void prepare(QueuePair queuePair) {
        queuePair.initialize(ConnectionOptions.defaults());
    }

    /// Connects a queue pair in INIT (rdma_connect(3)) and moves it to READY_TO_SEND. Called once. The connection
    /// no longer depends on this route. [#closing()] ends the wait.
    ConnectionDriver connect(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos)
            throws InterruptedException;
}
