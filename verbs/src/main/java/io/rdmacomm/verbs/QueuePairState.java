package io.rdmacomm.verbs;

/// The state of a queue pair (`enum ibv_qp_state`, ibv_modify_qp(3)).
public enum QueuePairState {
    /// Newly created or reset. Nothing can be posted.
    RESET(0),
    /// Receives can be posted. Nothing arrives yet.
    INIT(1),
    /// Connected, and processes messages of the peer. Nothing can be sent (RTR).
    READY_TO_RECEIVE(2),
    /// Fully operational (RTS).
    READY_TO_SEND(3),
    /// Sends are accepted but held back (SQD).
    SEND_QUEUE_DRAIN(4),
    /// A send failed on an unreliable queue pair; sends are flushed (SQE).
    SEND_QUEUE_ERROR(5),
    /// Work failed. All requests, queued or new, are flushed (ERR).
    ERROR(6);

    private final int code;

    QueuePairState(int code) {
        this.code = code;
    }

    /// The value in the C API.
    public int code() {
        return code;
    }
}
