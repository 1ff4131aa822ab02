package io.rdmacomm.soft.execution;

import io.rdmacomm.soft.memory.AccessFault;
import io.rdmacomm.verbs.AsyncEventType;

/// Why a request of the peer is not executed (IBTA 9.7.4).
public enum RequestFault {
    /// The queue pair does not allow such requests, or the request is malformed.
    INVALID_REQUEST(AsyncEventType.QUEUE_PAIR_REQUEST_ERROR),
    /// There is no such key.
    INVALID_KEY(AsyncEventType.QUEUE_PAIR_ACCESS_ERROR),
    /// The range is not inside the memory.
    OUT_OF_BOUNDS(AsyncEventType.QUEUE_PAIR_ACCESS_ERROR),
    /// The memory does not have the right.
    MISSING_RIGHT(AsyncEventType.QUEUE_PAIR_ACCESS_ERROR),
    /// The memory belongs to another protection domain, or a window to another queue pair.
    OTHER_DOMAIN(AsyncEventType.QUEUE_PAIR_ACCESS_ERROR),
    /// The receive has completed with an error, because the message is longer.
    RECEIVE_TOO_SHORT(AsyncEventType.UNKNOWN),
    /// The receive has completed with an error, because its memory must not be used.
    RECEIVE_MEMORY(AsyncEventType.UNKNOWN),
    /// The receive has completed with an error, because the key that the message names could not be invalidated.
    KEY_NOT_INVALIDATED(AsyncEventType.UNKNOWN);

    private final AsyncEventType event;

    RequestFault(AsyncEventType event) {
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

    /// The event to be raised here, or [AsyncEventType#UNKNOWN].
    public AsyncEventType event() {
        return event;
    }
}
