package io.rdmacomm.ibverbs.cm;

import io.rdmacomm.verbs.cm.ConnectionEvent;
import io.rdmacomm.verbs.cm.DatagramTarget;
import org.jspecify.annotations.Nullable;

/// A copy of an event that the connection manager reported about an identifier (`struct rdma_cm_event`).
final class IdentifierEvent {
    private final ConnectionEvent type;
    private final int status;
    private final @Nullable ConnectionIdentifier arrived;
    private final byte[] privateData;
    private final int responderResources;
    private final int initiatorDepth;
    private final @Nullable DatagramTarget target;

    /// @param arrived the identifier of a request that arrived; null for everything else
    /// @param privateData the private data of the peer; not copied
    /// @param target the address of a datagram service or multicast group; null for everything else
    IdentifierEvent(
            ConnectionEvent type,
            int status,
            @Nullable ConnectionIdentifier arrived,
            byte[] privateData,
            int responderResources,
            int initiatorDepth,
            @Nullable DatagramTarget target) {
        this.type = type;
        this.status = status;
        this.arrived = arrived;
        this.privateData = privateData;
        this.responderResources = responderResources;
        this.initiatorDepth = initiatorDepth;
        this.target = target;
    }

    /// The device went away.
    static IdentifierEvent ofRemoval() {
        return new IdentifierEvent(ConnectionEvent.DEVICE_REMOVAL, 0, null, new byte[0], 0, 0, null);
    }

    /// The kind of event.
    ConnectionEvent type() {
        return type;
    }

    /// 0, a negative errno, or on InfiniBand and RoCE the reason why the peer rejected the connection.
    int status() {
        return status;
    }

    /// The identifier of a request that arrived; null for everything else.
    @Nullable
    ConnectionIdentifier arrived() {
        return arrived;
    }

    /// The private data of the peer; not copied.
    byte[] privateData() {
        return privateData;
    }

    /// The number of the peer's READs and atomics that this side should answer at a time.
    int responderResources() {
        return responderResources;
    }

    /// The number of this side's READs and atomics that the peer answers at a time.
    int initiatorDepth() {
        return initiatorDepth;
    }

    /// The address of a datagram service or multicast group; null for everything else.
    @Nullable
    DatagramTarget target() {
        return target;
    }
}
