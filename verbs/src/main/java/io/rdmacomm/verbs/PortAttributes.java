package io.rdmacomm.verbs;

import io.rdmacomm.verbs.spi.PortValues;
import org.jspecify.annotations.Nullable;

/// The state of a port (`struct ibv_port_attr`, ibv_query_port(3)). Immutable.
public final class PortAttributes extends ValueObject<PortAttributes> {
    private final PortValues values;

    PortAttributes(PortValues values) {
        this.values = values;
    }

    /// Whether it can carry traffic.
    public PortState state() {
        return values.state;
    }

    /// The largest packet payload that it supports.
    public PathMtu maxMtu() {
        return values.maxMtu;
    }

    /// The largest packet payload that it is configured for.
    public PathMtu activeMtu() {
        return values.activeMtu;
    }

    /// Its local identifier, 16 bits.
    public int lid() {
        return values.lid;
    }

    /// The number of low bits of the local identifier that select a path.
    public int lidMask() {
        return values.lidMask;
    }

    /// The subnet manager's local identifier.
    public int subnetManagerLid() {
        return values.subnetManagerLid;
    }

    /// The subnet manager's service level.
    public int subnetManagerServiceLevel() {
        return values.subnetManagerServiceLevel;
    }

    /// The number of entries of its GID table.
    public int gidTableLength() {
        return values.gidTableLength;
    }

    /// The number of entries of its partition key table.
    public int partitionKeyTableLength() {
        return values.partitionKeyTableLength;
    }

    /// The longest message in bytes.
    public long maxMessageSize() {
        return values.maxMessageSize;
    }

    /// The C capability flags.
    public int capabilityFlags() {
        return values.capabilityFlags;
    }

    /// More capability flags, 16 bits; 0 if the native library does not report them.
    public int capabilityFlags2() {
        return values.capabilityFlags2;
    }

    /// The C code of the number of virtual lanes.
    public int maxVirtualLanes() {
        return values.maxVirtualLanes;
    }

    /// Packets rejected for their partition key.
    public int badPartitionKeys() {
        return values.badPartitionKeys;
    }

    /// Datagrams rejected for their queue key.
    public int queueKeyViolations() {
        return values.queueKeyViolations;
    }

    /// The code of the subnet's timeout.
    public int subnetTimeout() {
        return values.subnetTimeout;
    }

    /// The subnet manager's reply to the initialization type.
    public int initTypeReply() {
        return values.initTypeReply;
    }

    /// The C code of the link's width.
    public int activeWidth() {
        return values.activeWidth;
    }

    /// The C code of the link's speed.
    public int activeSpeed() {
        return values.activeSpeed;
    }

    /// The C code of the physical state.
    public int physicalState() {
        return values.physicalState;
    }

    /// The link layer.
    public LinkLayer linkLayer() {
        return values.linkLayer;
    }

    @Override
    @Nullable
    Object[] fields() {
        return new Object[] {
            "state",
            values.state,
            "maxMtu",
            values.maxMtu,
            "activeMtu",
            values.activeMtu,
            "lid",
            values.lid,
            "lidMask",
            values.lidMask,
            "subnetManagerLid",
            values.subnetManagerLid,
            "subnetManagerServiceLevel",
            values.subnetManagerServiceLevel,
            "gidTableLength",
            values.gidTableLength,
            "partitionKeyTableLength",
            values.partitionKeyTableLength,
            "maxMessageSize",
            values.maxMessageSize,
            "capabilityFlags",
            values.capabilityFlags,
            "capabilityFlags2",
            values.capabilityFlags2,
            "maxVirtualLanes",
            values.maxVirtualLanes,
            "badPartitionKeys",
            values.badPartitionKeys,
            "queueKeyViolations",
            values.queueKeyViolations,
            "subnetTimeout",
            values.subnetTimeout,
            "initTypeReply",
            values.initTypeReply,
            "activeWidth",
            values.activeWidth,
            "activeSpeed",
            values.activeSpeed,
            "physicalState",
            values.physicalState,
            "linkLayer",
            values.linkLayer
        };
    }
}
