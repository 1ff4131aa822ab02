package io.rdmacomm.soft.execution;

import io.rdmacomm.soft.memory.AccessFault;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.WorkStatus;

/// Why a request of the peer is not executed (IBTA 9.7.4).
public enum RequestFault {
    /// The queue pair does not allow such requests, or the request is malformed.
    INVALID_REQUEST(WorkStatus.REMOTE_INVALID_REQUEST, AsyncEventType.QUEUE_PAIR_REQUEST_ERROR),
    /// There is no such key.
    INVALID_KEY(WorkStatus.REMOTE_ACCESS_ERROR, AsyncEventType.QUEUE_PAIR_ACCESS_ERROR),
    /// The range is not inside the memory.
    OUT_OF_BOUNDS(WorkStatus.REMOTE_ACCESS_ERROR, AsyncEventType.QUEUE_PAIR_ACCESS_ERROR),
    /// The memory does not have the right.
    MISSING_RIGHT(WorkStatus.REMOTE_ACCESS_ERROR, AsyncEventType.QUEUE_PAIR_ACCESS_ERROR),
    /// The memory belongs to another protection domain, or a window to another queue pair.
    OTHER_DOMAIN(WorkStatus.REMOTE_ACCESS_ERROR, AsyncEventType.QUEUE_PAIR_ACCESS_ERROR),
    /// The message is longer than its receive.
    RECEIVE_TOO_SHORT(WorkStatus.REMOTE_INVALID_REQUEST, AsyncEventType.UNKNOWN),
    /// The memory of the receive must not be used.
    RECEIVE_MEMORY(WorkStatus.REMOTE_OPERATION_ERROR, AsyncEventType.UNKNOWN),
    /// The receive has completed with an error, because the key that the message names could not be invalidated.
    KEY_NOT_INVALIDATED(WorkStatus.REMOTE_OPERATION_ERROR, AsyncEventType.UNKNOWN);

    private final WorkStatus status;
    private final AsyncEventType event;

    RequestFault(WorkStatus status, AsyncEventType event) {
        this.status = status;
        this.event = event;
    }

    static RequestFault of(AccessFault fault) {
        return switch (fault) {
            case INVALID_KEY -> INVALID_KEY;
            case OUT_OF_BOUNDS -> OUT_OF_BOUNDS;
            case MISSING_RIGHT -> MISSING_RIGHT;
            case OTHER_DOMAIN -> OTHER_DOMAIN;
        };
    }

    /// The status that the request fails with on the side of the peer.
    public WorkStatus status() {
        return status;
    }

    /// The event to raise here, or [AsyncEventType#UNKNOWN].
    public AsyncEventType event() {
        return event;
    }
}
