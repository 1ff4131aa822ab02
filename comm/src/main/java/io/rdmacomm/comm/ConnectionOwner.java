package io.rdmacomm.comm;

/// Notified of the life cycle of one connection.
interface ConnectionOwner {
    /// The connection was created; nothing is connected yet. Called first.
    void made(PeerConnection connection);

    /// The connection has failed, or one of the two sides has closed it. Called once, on a separate virtual
    /// thread; may block.
    void ended();

    /// The connection is closed and everything is freed.
    void freed();
}
