package io.rdmacomm.cli;

/// What a file copy travels over.
enum TransportKind {
    /// One-sided operations into the receiver's memory.
    RDMA,
    /// A plain socket, for comparison.
    TCP
}
