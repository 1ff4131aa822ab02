package io.rdmacomm.soft.shm;

/// What has become of an attempt to carry a request out: one of these, or the positive code of the
/// [io.rdmacomm.verbs.WorkStatus] that it has failed with.
final class Outcome {
    /// The request was carried out.
    static final int DONE = 0;
    /// The peer is not there, or not ready to receive.
    static final int NO_PEER = -1;
    /// The peer has no receive posted.
    static final int RECEIVER_NOT_READY = -2;
    /// Memory that only the peer itself can reach is involved.
    static final int NEEDS_STAGING = -3;

    private Outcome() {}
}
