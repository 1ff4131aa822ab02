package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueuePairStateException;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.Resource;
import io.rdmacomm.verbs.VerbException;
import java.net.InetSocketAddress;

/// One end of a connection, whether resolved, requested or established (`struct rdma_cm_id`, rdma_create_id(3)).
public abstract class CommunicationIdentifier extends Resource {
    private final ConnectionManager manager;

    /// For providers.
    protected CommunicationIdentifier(ConnectionManager manager) {
        super(manager);
        this.manager = manager;
    }

    /// The connection manager that it belongs to.
    public final ConnectionManager manager() {
        return manager;
    }

    /// The address on this side (rdma_get_local_addr(3)).
    public abstract InetSocketAddress localAddress();

    /// The address of the peer (rdma_get_peer_addr(3)).
    public abstract InetSocketAddress remoteAddress();

    /// Takes a queue pair from RESET to INIT, as rdma_create_qp(3) does, so that receives can be posted before the
    /// connection is established.
    ///
    /// @throws VerbException EINVAL if the queue pair belongs to another context, or with the errno that the
    ///         device reports
    /// @throws QueuePairStateException if it is not in RESET
    protected final void prepareQueuePair(QueuePair queuePair) {
        checkOpen();
        checkContext(queuePair);
        QueuePairState state = queuePair.state();
        if (!state.equals(QueuePairState.RESET)) {
            throw new QueuePairStateException(
                    "prepare queue pair (rdma_create_qp)",
                    state,
                    queuePair + " is in state " + state + "; only one in RESET can be prepared");
        }
        doPrepare(queuePair);
    }

    /// Prepares the queue pair unless its owner has done so. Rejects one that cannot be connected.
    final void makeReady(String operation, QueuePair queuePair) {
        checkContext(queuePair);
        QueuePairState state = queuePair.state();
        if (state.equals(QueuePairState.RESET)) {
            doPrepare(queuePair);
        } else if (!state.equals(QueuePairState.INIT)) {
            throw new QueuePairStateException(
                    operation, state, queuePair + " is in state " + state + "; connect one that is in RESET or INIT");
        }
    }

    /// Rejects private data that does not fit.
    final void checkPrivateData(String operation, byte[] privateData) {
        manager.checkPrivateData(operation, privateData, manager.privateDataLimit());
    }

    /// Rejects an unresolved address.
    static void checkResolved(String operation, InetSocketAddress address) {
        if (address.isUnresolved()) {
            throw new VerbException(
                    operation, Errno.EINVAL, "host name " + address.getHostString() + " cannot be resolved; check it");
        }
    }

    private void checkContext(QueuePair queuePair) {
        if (!queuePair.protectionDomain().context().equals(manager.context())) {
            throw new VerbException(
                    "use queue pair with connection manager",
                    Errno.EINVAL,
                    queuePair + " belongs to another context than " + this);
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

    /// Takes the queue pair from RESET to INIT.
    protected abstract void doPrepare(QueuePair queuePair);
}
