package io.rdmacomm.verbs;

/// A valid entry of a port's GID table (`struct ibv_gid_entry`).
///
/// @param index the position in the table
/// @param gid the identifier
/// @param type the protocol that it is an address of
public record GidEntry(int index, Gid gid, GidType type) {}
