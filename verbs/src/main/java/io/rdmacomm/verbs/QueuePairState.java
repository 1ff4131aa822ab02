package io.rdmacomm.verbs;

/// The state of a queue pair (`enum ibv_qp_state`, ibv_modify_qp(3)).
public enum QueuePairState {
    /// Freshly created or reset: nothing may be posted.
    RESET(0),
    /// Receives may be posted; nothing arrives yet.
    INIT(1),
    /// The peer is known and its messages are processed (RTR).
    READY_TO_RECEIVE(2),
    /// Fully operational (RTS).
    READY_TO_SEND(3),
    /// Sends are accepted but held back (SQD).
    SEND_QUEUE_DRAIN(4),
    /// A send failed on an unreliable queue pair; sends are flushed (SQE).
    SEND_QUEUE_ERROR(5),
    /// Work failed: everything queued or posted from now on is flushed (ERR).
    ERROR(6);

    private final int code;

    QueuePairState(int code) {
        this.code = code;
    }

    /// The number that C programs see.
    public int code() {
        return code;
    }
}
