package io.rdmacomm.comm;

/// Receives the ends of its endpoints; a session.
interface EndPointOwner {
    /// The session.
    Session session();

    /// The endpoint has failed, or one of the two sides has closed it. Called once, on a virtual thread of its
    /// own; may block.
    void ended(EndPoint endPoint);

    /// The endpoint is closed and everything is freed.
    void freed(EndPoint endPoint);
}
