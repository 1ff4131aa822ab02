package io.rdmacomm.soft.iwarp;

import io.rdmacomm.verbs.Gid;

/// Where a queue pair is.
///
/// @param gid the address of its device
/// @param lid the port of its device's listener
/// @param number its number; 0 if a listener of the connection manager is called, which has none yet
public record QueuePairAddress(Gid gid, int lid, int number) {
    /// No queue pair.
    public static final QueuePairAddress NONE = new QueuePairAddress(Gid.NONE, 0, 0);
}
