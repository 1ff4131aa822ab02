package io.rdmacomm.verbs;

/// The kind of an asynchronous event (`enum ibv_event_type`, ibv_get_async_event(3)).
public enum AsyncEventType {
    /// A completion queue overran or failed and is unusable.
    COMPLETION_QUEUE_ERROR(0),
    /// A queue pair failed and is in the error state.
    QUEUE_PAIR_FATAL(1),
    /// A queue pair received an invalid request.
    QUEUE_PAIR_REQUEST_ERROR(2),
    /// A peer violated local access rights.
    QUEUE_PAIR_ACCESS_ERROR(3),
    /// The first message arrived on a queue pair that is ready to receive.
    COMMUNICATION_ESTABLISHED(4),
    /// All sends that were in flight when draining began have completed.
    SEND_QUEUE_DRAINED(5),
    /// The connection moved to its alternate path.
    PATH_MIGRATED(6),
    /// The connection could not move to its alternate path.
    PATH_MIGRATION_ERROR(7),
    /// The device failed or was removed.
    DEVICE_FATAL(8),
    /// A port became active.
    PORT_ACTIVE(9),
    /// A port went down.
    PORT_ERROR(10),
    /// A port's local identifier changed.
    LID_CHANGE(11),
    /// A port's partition keys changed.
    PARTITION_KEY_CHANGE(12),
    /// The subnet manager of a port changed.
    SUBNET_MANAGER_CHANGE(13),
    /// A shared receive queue failed.
    SHARED_RECEIVE_QUEUE_ERROR(14),
    /// A shared receive queue holds fewer receives than its armed limit.
    SHARED_RECEIVE_QUEUE_LIMIT_REACHED(15),
    /// A queue pair takes no more receives from its shared receive queue.
    QUEUE_PAIR_LAST_WORK_REACHED(16),
    /// The subnet manager asks clients to register again.
    CLIENT_REREGISTER(17),
    /// A port's GID table changed.
    GID_CHANGE(18),
    /// A work queue failed.
    WORK_QUEUE_FATAL(19),
    /// A code that this version does not know.
    UNKNOWN(-1);

    private static final AsyncEventType[] VALUES = values();

    private final int code;

    AsyncEventType(int code) {
        this.code = code;
    }

    /// The value in the C API.
    public int code() {
        return code;
    }

    /// The constant with this code, or [#UNKNOWN].
    public static AsyncEventType of(int code) {
        return Codes.find(VALUES, AsyncEventType::code, code, UNKNOWN);
    }
}
