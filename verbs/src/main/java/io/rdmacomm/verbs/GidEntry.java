package io.rdmacomm.verbs;

/// A valid entry of a port's GID table (`struct ibv_gid_entry`).
///
/// @param index the position in the table
/// @param gid the identifier
/// @param type the protocol that it is an address of
/// @param networkInterface the index of the network interface that it belongs to, for example of a VLAN
///        (netdevice(7)); 0 if there is none or it is unknown
public record GidEntry(int index, Gid gid, GidType type, int networkInterface) {}
