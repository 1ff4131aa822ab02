package io.rdmacomm.comm;

/// Receives the end of one connection.
interface ConnectionOwner {
    /// The connection exists; nothing is connected yet. Before the others.
    void made(PeerConnection connection);

    /// The connection has failed, or one of the two sides has closed it. Called once, on a virtual thread of its
    /// own; may block.
    void ended();

    /// The connection is closed and everything is freed.
    void freed();
}
