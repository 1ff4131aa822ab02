package io.rdmacomm.soft.roce.wire;

import io.rdmacomm.verbs.WorkStatus;

/// The syndromes of acknowledgements (IBTA 9.7.5.2).
public final class Syndrome {
    /// Done. Like rxe, does not tell the number of receives of this side.
    public static final int DONE = 0x1f;
    /// A packet is missing: the acknowledgement has the number of the expected one.
    public static final int SEQUENCE_ERROR = 0x60;
    /// The responder does not execute such requests.
    public static final int INVALID_REQUEST = 0x61;
    /// The memory must not be used that way.
    public static final int ACCESS_ERROR = 0x62;
    /// The responder could not execute it.
    public static final int OPERATION_ERROR = 0x63;

    private static final int KIND = 0xe0;
    private static final int VALUE = 0x1f;
    private static final int NOT_READY = 0x20;

    private Syndrome() {}

    /// There is no receive.
    ///
    /// @param timer the code of the time to wait
    public static int notReady(int timer) {
        return NOT_READY | (timer & VALUE);
    }

    /// Whether it acknowledges.
    public static boolean isDone(int syndrome) {
        return (syndrome & KIND) == 0;
    }

    /// Whether the responder has no receive.
    public static boolean isNotReady(int syndrome) {
        return (syndrome & KIND) == NOT_READY;
    }

    /// The code of the time to wait until there may be a receive.
    public static int timer(int syndrome) {
        return syndrome & VALUE;
    }

    /// The syndrome for a rejected request.
    ///
    /// @param status the status that the request fails with at the peer
    public static int refusal(WorkStatus status) {
        return switch (status) {
            case REMOTE_INVALID_REQUEST -> INVALID_REQUEST;
            case REMOTE_ACCESS_ERROR -> ACCESS_ERROR;
            default -> OPERATION_ERROR;
        };
    }

    /// The status of a request that the peer has rejected; [WorkStatus#SUCCESS] if it has not.
    public static WorkStatus status(int syndrome) {
        return switch (syndrome) {
            case INVALID_REQUEST -> WorkStatus.REMOTE_INVALID_REQUEST;
            case ACCESS_ERROR -> WorkStatus.REMOTE_ACCESS_ERROR;
            case OPERATION_ERROR -> WorkStatus.REMOTE_OPERATION_ERROR;
            default -> WorkStatus.SUCCESS;
        };
    }
}
