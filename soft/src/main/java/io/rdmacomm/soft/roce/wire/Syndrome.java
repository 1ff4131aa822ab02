package io.rdmacomm.soft.roce.wire;

import io.rdmacomm.verbs.WorkStatus;

/// The syndromes of acknowledgements (IBTA 9.7.5.2).
public final class Syndrome {
    /// Done; the number of receives of this side stays unknown, as rxe says it, too.
    public static final int DONE = 0x1f;
    /// A packet is missing: the number is that of the expected one.
    public static final int SEQUENCE_ERROR = 0x60;
    /// The request is not one that the responder executes.
    public static final int INVALID_REQUEST = 0x61;
    /// The memory must not be used that way.
    public static final int ACCESS_ERROR = 0x62;
    /// The responder could not carry it out.
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

    /// Says that a request was refused.
    ///
    /// @param status that the request fails with on the side of the peer
    public static int refusal(WorkStatus status) {
        return switch (status) {
            case REMOTE_INVALID_REQUEST -> INVALID_REQUEST;
            case REMOTE_ACCESS_ERROR -> ACCESS_ERROR;
            default -> OPERATION_ERROR;
        };
    }

    /// The status that a request fails with which the peer has refused; [WorkStatus#SUCCESS] if it has not.
    public static WorkStatus status(int syndrome) {
        return switch (syndrome) {
            case INVALID_REQUEST -> WorkStatus.REMOTE_INVALID_REQUEST;
            case ACCESS_ERROR -> WorkStatus.REMOTE_ACCESS_ERROR;
            case OPERATION_ERROR -> WorkStatus.REMOTE_OPERATION_ERROR;
            default -> WorkStatus.SUCCESS;
        };
    }
}
