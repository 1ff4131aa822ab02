package io.rdmacomm.verbs.spi;

import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.cm.ConnectionParameters;

/// A resolved route ([io.rdmacomm.verbs.cm.Route]). Thread-safe.
public interface RouteDriver extends IdentifierDriver {
    /// Moves a queue pair of the same context from RESET to INIT with [QueuePair#modify].
    void prepare(QueuePair queuePair);

    /// Connects a queue pair in INIT (rdma_connect(3)) and moves it to READY_TO_SEND. Called once. The connection
    /// no longer depends on this route. [#closing()] ends the wait.
    ConnectionDriver connect(QueuePair queuePair, ConnectionParameters parameters, long timeoutNanos)
            throws InterruptedException;
}
