package io.rdmacomm.ibverbs.cm;

import io.rdmacomm.verbs.cm.ConnectionEvent;
import org.jspecify.annotations.Nullable;

/// A copy of what the connection manager reported about an identifier (`struct rdma_cm_event`).
final class IdentifierEvent {
    private final ConnectionEvent type;
    private final int status;
    private final @Nullable ConnectionIdentifier arrived;
    private final byte[] privateData;
    private final int responderResources;
    private final int initiatorDepth;

    /// @param arrived the identifier of a request that arrived; null for everything else
    /// @param privateData the private data of the peer; not copied
    IdentifierEvent(
            ConnectionEvent type,
            int status,
            @Nullable ConnectionIdentifier arrived,
            byte[] privateData,
            int responderResources,
            int initiatorDepth) {
        this.type = type;
        this.status = status;
        this.arrived = arrived;
        this.privateData = privateData;
        this.responderResources = responderResources;
        this.initiatorDepth = initiatorDepth;
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

    /// The number of READs and atomics of the peer that this side should hold.
    int responderResources() {
        return responderResources;
    }

    /// The number of READs and atomics of this side that the peer holds.
    int initiatorDepth() {
        return initiatorDepth;
    }
}
