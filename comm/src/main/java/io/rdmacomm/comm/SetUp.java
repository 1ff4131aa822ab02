package io.rdmacomm.comm;

/// How the queue pairs of an end point find those of the peer.
public enum SetUp {
    /// By numbers where both devices can do that, else by the connection manager.
    AUTOMATIC,
    /// The numbers of the queue pairs travel over TCP, and each side brings its own up: InfiniBand, RoCE,
    /// `soft`.
    NUMBERS,
    /// A connection each, made by the connection manager (rdma_cm(7)): the only way on iWARP.
    CONNECTION_MANAGER
}
