package io.rdmacomm.comm;

/// How the queue pairs of an endpoint are connected to those of the peer.
public enum Setup {
    /// By numbers if both devices support that and the numbers lead the two sides to each other, otherwise by the
    /// connection manager. The server decides.
    AUTOMATIC,
    /// The sides exchange queue pair numbers over TCP, and each connects its own queue pairs: InfiniBand,
    /// RoCE, `soft`.
    NUMBERS,
    /// The connection manager connects each queue pair (rdma_cm(7)): the only way on iWARP.
    CONNECTION_MANAGER
}
