package io.rdmacomm.verbs;

/// The state of a port (`struct ibv_port_attr`, ibv_query_port(3)).
///
/// @param state whether it can carry traffic
/// @param maxMtu the largest packet payload that it supports
/// @param activeMtu the largest packet payload that it is configured for
/// @param lid its local identifier, 16 bits
/// @param lidMask how many low bits of the local identifier select a path
/// @param subnetManagerLid the subnet manager's local identifier
/// @param subnetManagerServiceLevel the subnet manager's service level
/// @param gidTableLength the number of entries of its GID table
/// @param partitionKeyTableLength the number of entries of its partition key table
/// @param maxMessageSize the longest message in bytes
/// @param capabilityFlags the C capability flags
/// @param capabilityFlags2 more capability flags, 16 bits; 0 if the native library does not report them
/// @param maxVirtualLanes the C code of the number of virtual lanes
/// @param badPartitionKeys packets rejected for their partition key
/// @param queueKeyViolations datagrams rejected for their queue key
/// @param subnetTimeout the code of the subnet's time-out
/// @param initTypeReply the subnet manager's reply to the initialization type
/// @param activeWidth the C code of the link's width
/// @param activeSpeed the C code of the link's speed
/// @param physicalState the C code of the physical state
/// @param linkLayer the link layer
public record PortAttributes(
        PortState state,
        PathMtu maxMtu,
        PathMtu activeMtu,
        int lid,
        int lidMask,
        int subnetManagerLid,
        int subnetManagerServiceLevel,
        int gidTableLength,
        int partitionKeyTableLength,
        long maxMessageSize,
        int capabilityFlags,
        int capabilityFlags2,
        int maxVirtualLanes,
        int badPartitionKeys,
        int queueKeyViolations,
        int subnetTimeout,
        int initTypeReply,
        int activeWidth,
        int activeSpeed,
        int physicalState,
        LinkLayer linkLayer) {}
