package io.rdmacomm.soft.iwarp;

import io.rdmacomm.verbs.Gid;

/// The address of a queue pair.
///
/// @param gid the address of its device
/// @param lid the port of its device's listener
/// @param number its number; 0 to call a listener of the connection manager, which has none yet
public record QueuePairAddress(Gid gid, int lid, int number) {
    /// No queue pair.
    public static final QueuePairAddress NONE = new QueuePairAddress(Gid.NONE, 0, 0);
}
