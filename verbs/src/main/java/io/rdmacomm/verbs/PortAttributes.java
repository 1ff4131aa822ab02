package io.rdmacomm.verbs;

/// The state of a port (`struct ibv_port_attr`, ibv_query_port(3)).
///
/// @param state whether it can carry traffic
/// @param maxMtu the largest packet payload it could be set to
/// @param activeMtu the largest packet payload it is set to
/// @param lid its local identifier, 16 bits
/// @param lidMask how many low bits of the local identifier are paths
/// @param subnetManagerLid the subnet manager's local identifier
/// @param subnetManagerServiceLevel the subnet manager's service level
/// @param gidTableLength how many GIDs it can hold
/// @param partitionKeyTableLength how many partition keys it can hold
/// @param maxMessageSize the longest message in bytes
/// @param capabilityFlags the C capability flags
/// @param capabilityFlags2 more of them, 16 bits; 0 where the library that speaks to the device does not know them
/// @param maxVirtualLanes the C code of the number of virtual lanes
/// @param badPartitionKeys packets refused for their partition key
/// @param queueKeyViolations datagrams refused for their queue key
/// @param subnetTimeout the code of the subnet's time-out
/// @param initTypeReply the subnet manager's answer to the kind of initialisation
/// @param activeWidth the C code of the link's width
/// @param activeSpeed the C code of the link's speed
/// @param physicalState the C code of the physical state
/// @param linkLayer what the packets travel in
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
