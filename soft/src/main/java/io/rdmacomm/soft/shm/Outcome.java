package io.rdmacomm.soft.shm;

/// The result of an attempt to execute a request: one of these, or the positive code of the
/// [io.rdmacomm.verbs.WorkStatus] that it failed with.
final class Outcome {
    /// The request was executed.
    static final int DONE = 0;
    /// The peer is not there, or not ready to receive.
    static final int NO_PEER = -1;
    /// The peer has no receive posted.
    static final int RECEIVER_NOT_READY = -2;
    /// The request needs memory that only the peer itself can access.
    static final int NEEDS_STAGING = -3;
    /// The request is being staged, and waits for the peer.
    static final int WAITS = -4;

    /// Nothing has happened: the request cannot be executed in the short way.
    static final int NOT_DIRECT = -5;

    private Outcome() {}
}
