package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueuePairStateException;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.Resource;
import io.rdmacomm.verbs.VerbException;
import java.util.function.Consumer;

/// Checks and prepares the queue pair for a route or a request.
final class ConnectableChecks {
    private final ConnectionManager manager;
    private final Resource identifier;
    private final Consumer<QueuePair> prepare;

    /// @param identifier the route or request, for messages
    /// @param prepare moves a queue pair from RESET to INIT, as rdma_create_qp(3) does
    ConnectableChecks(ConnectionManager manager, Resource identifier, Consumer<QueuePair> prepare) {
        this.manager = manager;
        this.identifier = identifier;
        this.prepare = prepare;
    }

    /// Moves a queue pair from RESET to INIT.
    void prepare(QueuePair queuePair) {
        checkContext(queuePair);
        QueuePairState state = queuePair.state();
        if (!state.equals(QueuePairState.RESET)) {
            throw new QueuePairStateException(
                    "prepare queue pair (rdma_create_qp)",
                    state,
                    queuePair + " is in state " + state + "; only one in RESET can be prepared");
        }
        prepare.accept(queuePair);
    }

    /// Prepares the queue pair unless its owner has done so. Rejects one that cannot be connected.
    void makeReady(String operation, QueuePair queuePair) {
        checkContext(queuePair);
        QueuePairState state = queuePair.state();
        if (state.equals(QueuePairState.RESET)) {
            prepare.accept(queuePair);
        } else if (!state.equals(QueuePairState.INIT)) {
            throw new QueuePairStateException(
                    operation, state, queuePair + " is in state " + state + "; connect one that is in RESET or INIT");
        }
    }

    private void checkContext(QueuePair queuePair) {
        if (!queuePair.protectionDomain().context().equals(manager.context())) {
            throw new VerbException(
                    "use queue pair with connection manager",
                    Errno.EINVAL,
                    queuePair + " belongs to another context than " + identifier);
        }
        QueuePairType type = queuePair.options().type();
        if (type != QueuePairType.RELIABLE_CONNECTED) {
            throw new VerbException(
                    "use queue pair with connection manager",
                    Errno.EINVAL,
                    queuePair + " is " + type + "; a connection manager connects only "
                            + QueuePairType.RELIABLE_CONNECTED);
        }
    }
}
