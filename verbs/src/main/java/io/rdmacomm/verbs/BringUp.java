package io.rdmacomm.verbs;

import java.security.SecureRandom;

/// Brings a queue pair up with the numbers of its peer, step by step.
final class BringUp {
    /// The number is part of what keeps strangers out of a connection, so nobody may guess it from others.
    private static final SecureRandom RANDOM = new SecureRandom();

    private final QueuePair queuePair;
    private final Context context;
    private final int initialPsn = RANDOM.nextInt(1 << 24);

    BringUp(QueuePair queuePair) {
        this.queuePair = queuePair;
        this.context = queuePair.protectionDomain().context();
    }

    /// The numbers that a peer needs to connect.
    QueuePairInfo info(PathOptions path) {
        PortAttributes port = context.port(path.port());
        return new QueuePairInfo(
                queuePair.number(),
                initialPsn,
                port.lid(),
                gid(path.port(), resolve(path.port(), path.gidIndex()), port.linkLayer()),
                port.activeMtu().min(path.mtu()));
    }

    /// A GID that a peer can send to. On InfiniBand, the LID alone leads there.
    private Gid gid(int port, int index, LinkLayer link) {
        Gid gid = context.gid(port, index);
        if (gid.equals(Gid.NONE) && link == LinkLayer.ETHERNET) {
            throw new VerbException(
                    "query GID (ibv_query_gid)",
                    Errno.ENODATA,
                    "entry " + index + " of the GID table of port " + port + " of " + context
                            + " is empty; give its network interface an address, or choose another entry");
        }
        return gid;
    }

    private int resolve(int port, int gidIndex) {
        return gidIndex == PathOptions.AUTOMATIC_GID ? context.preferredGidIndex(port) : gidIndex;
    }

    /// The options as far as the device and the kind of queue pair can do them.
    ConnectionOptions fitting(ConnectionOptions how) {
        if (queuePair.options().type() == QueuePairType.UNRELIABLE_DATAGRAM) {
            throw new VerbException(
                    "connect queue pair",
                    Errno.EINVAL,
                    queuePair + " is for datagrams, which need no connection; call startDatagrams instead");
        }
        ConnectionOptions fitting = context.fitting(how);
        return isReliable() ? fitting : fitting.withoutReads();
    }

    private boolean isReliable() {
        return queuePair.options().type() == QueuePairType.RELIABLE_CONNECTED;
    }

    /// From RESET to INIT.
    void initialize(ConnectionOptions fitting) {
        PathOptions path = fitting.path();
        PortChecks checks = new PortChecks(context, "connect queue pair (ibv_modify_qp)");
        checks.partitionKey(path.port(), path.partitionKeyIndex());
        checks.sourcePathBits(path.port(), path.sourcePathBits());
        queuePair.modify(fitting.initialize());
    }

    /// From INIT to READY_TO_RECEIVE.
    void readyToReceive(QueuePairInfo remote, ConnectionOptions fitting) {
        int port = fitting.path().port();
        PortAttributes attributes = context.port(port);
        if (remote.gid().equals(Gid.NONE) && attributes.linkLayer() == LinkLayer.ETHERNET) {
            throw new VerbException(
                    "connect queue pair (ibv_modify_qp)",
                    Errno.EINVAL,
                    "the peer of " + queuePair
                            + " has sent an empty GID, so it cannot be reached; it has to choose an entry of"
                            + " its GID table that is not empty");
        }
        queuePair.modify(fitting.readyToReceive(
                isReliable(), remote, resolve(port, fitting.path().gidIndex()), attributes.activeMtu()));
    }

    /// From READY_TO_RECEIVE to READY_TO_SEND.
    void readyToSend(ConnectionOptions fitting) {
        queuePair.modify(fitting.readyToSend(isReliable(), initialPsn));
    }

    /// A queue pair for datagrams from RESET to INIT.
    void initialize(String operation, DatagramOptions how) {
        new PortChecks(context, operation).partitionKey(how.port(), how.partitionKeyIndex());
        queuePair.modify(how.initialize());
    }

    /// A queue pair for datagrams from INIT to READY_TO_SEND.
    void startDatagrams() {
        queuePair.modify(DatagramOptions.readyToReceive());
        queuePair.modify(DatagramOptions.readyToSend(initialPsn));
    }
}
