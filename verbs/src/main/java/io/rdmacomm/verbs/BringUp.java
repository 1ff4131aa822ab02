package io.rdmacomm.verbs;

import io.rdmacomm.verbs.spi.ContextDriver;
import io.rdmacomm.verbs.spi.PortValues;
import io.rdmacomm.verbs.spi.QueuePairOwner;
import java.security.SecureRandom;

/// The changes that bring a queue pair up with the numbers of its peer, step by step.
final class BringUp {
    /// Initial packet sequence numbers help to protect a connection from strangers, so they must be unpredictable.
    private static final SecureRandom RANDOM = new SecureRandom();

    private final ContextDriver context;
    private final int number;
    private final QueuePairType type;
    private final QueuePairOwner queuePair;
    private final int initialPsn = RANDOM.nextInt(1 << 24);

    /// @param queuePair for messages
    BringUp(ContextDriver context, int number, QueuePairType type, QueuePairOwner queuePair) {
        this.context = context;
        this.number = number;
        this.type = type;
        this.queuePair = queuePair;
    }

    /// The numbers that a peer needs to connect.
    QueuePairInfo info(PathOptions path) {
        PortValues port = context.queryPort(path.port());
        return new QueuePairInfo(
                number,
                initialPsn,
                port.lid,
                gid(path.port(), gidIndex(path), port.linkLayer),
                port.activeMtu.min(path.mtu()));
    }

    /// A GID that a peer can send to. On InfiniBand, the LID alone is sufficient.
    private Gid gid(int port, int index, LinkLayer link) {
        Gid gid = context.queryGid(port, index);
        if (gid.equals(Gid.NONE) && link == LinkLayer.ETHERNET) {
            throw new VerbException(
                    "query GID (ibv_query_gid)",
                    Errno.ENODATA,
                    "entry " + index + " of the GID table of port " + port + " of " + context
                            + " is empty; give its network interface an address, or choose another entry");
        }
        return gid;
    }

    private int gidIndex(PathOptions path) {
        return path.gidIndex().orElseGet(() -> GidChoice.choose(context.queryGidTable(path.port()), LocalGids.NONE));
    }

    /// The options that this kind of queue pair supports.
    ConnectionOptions fitting(ConnectionOptions how) {
        if (type == QueuePairType.UNRELIABLE_DATAGRAM) {
            throw new VerbException(
                    "connect queue pair",
                    Errno.EINVAL,
                    queuePair + " is for datagrams, which need no connection; call startDatagrams instead");
        }
        return isReliable() ? how : how.withoutReads();
    }

    private boolean isReliable() {
        return type == QueuePairType.RELIABLE_CONNECTED;
    }

    /// From RESET to INIT.
    QueuePairAttributes initialize(ConnectionOptions fitting) {
        PathOptions path = fitting.path();
        PortChecks checks = new PortChecks(context, "connect queue pair (ibv_modify_qp)");
        checks.partitionKey(path.port(), path.partitionKeyIndex());
        checks.sourcePathBits(path.port(), path.sourcePathBits());
        return fitting.initialize();
    }

    /// From INIT to READY_TO_RECEIVE.
    QueuePairAttributes readyToReceive(QueuePairInfo remote, ConnectionOptions fitting) {
        PortValues attributes = context.queryPort(fitting.path().port());
        if (remote.gid().equals(Gid.NONE) && attributes.linkLayer == LinkLayer.ETHERNET) {
            throw new VerbException(
                    "connect queue pair (ibv_modify_qp)",
                    Errno.EINVAL,
                    "the peer of " + queuePair
                            + " has sent an empty GID, so it cannot be reached; it has to choose an entry of"
                            + " its GID table that is not empty");
        }
        return fitting.readyToReceive(isReliable(), remote, gidIndex(fitting.path()), attributes.activeMtu);
    }

    /// From READY_TO_RECEIVE to READY_TO_SEND.
    QueuePairAttributes readyToSend(ConnectionOptions fitting) {
        return fitting.readyToSend(isReliable(), initialPsn);
    }

    /// From RESET to INIT, for a datagram queue pair.
    QueuePairAttributes initialize(String operation, DatagramOptions how) {
        new PortChecks(context, operation).partitionKey(how.port(), how.partitionKeyIndex());
        return how.initialize();
    }

    /// From READY_TO_RECEIVE to READY_TO_SEND, for a datagram queue pair.
    QueuePairAttributes readyToSendDatagrams() {
        return DatagramOptions.readyToSend(initialPsn);
    }
}
