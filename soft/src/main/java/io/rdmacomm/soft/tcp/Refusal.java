package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.execution.RequestFault;
import io.rdmacomm.soft.iwarp.Acknowledgement;
import io.rdmacomm.soft.iwarp.TerminateCode;
import io.rdmacomm.soft.iwarp.Violation;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.WorkStatus;

/// Why a request of the peer was rejected, which ends the link.
///
/// @param code for a third-party peer
/// @param syndrome for our own peers
/// @param event to be raised here, or [AsyncEventType#UNKNOWN]
record Refusal(TerminateCode code, int syndrome, AsyncEventType event) {
    /// The peer broke a rule of the protocol.
    static Refusal of(Violation violation) {
        TerminateCode code = violation.answer();
        AsyncEventType event =
                code.isProtection() ? AsyncEventType.QUEUE_PAIR_ACCESS_ERROR : AsyncEventType.QUEUE_PAIR_REQUEST_ERROR;
        return new Refusal(code, syndrome(code.workStatus()), event);
    }

    /// DDP places Writes, so it reports their memory faults; it knows no access rights (RFC 5041 7).
    static Refusal ofWrite(RequestFault fault) {
        TerminateCode code = switch (fault) {
            case INVALID_KEY -> TerminateCode.TAGGED_INVALID_KEY;
            case OUT_OF_BOUNDS -> TerminateCode.TAGGED_OUT_OF_BOUNDS;
            case OTHER_DOMAIN -> TerminateCode.TAGGED_OTHER_DOMAIN;
            default -> code(fault);
        };
        return new Refusal(code, syndrome(fault.status()), fault.event());
    }

    /// RDMAP reports all other faults (RFC 5040 7.1).
    static Refusal of(RequestFault fault) {
        return new Refusal(code(fault), syndrome(fault.status()), fault.event());
    }

    private static TerminateCode code(RequestFault fault) {
        return switch (fault) {
            case INVALID_REQUEST -> TerminateCode.OPERATION;
            case INVALID_KEY -> TerminateCode.INVALID_KEY;
            case OUT_OF_BOUNDS -> TerminateCode.OUT_OF_BOUNDS;
            case MISSING_RIGHT -> TerminateCode.MISSING_RIGHT;
            case OTHER_DOMAIN -> TerminateCode.OTHER_DOMAIN;
            case RECEIVE_TOO_SHORT -> TerminateCode.MESSAGE_TOO_LONG;
            case RECEIVE_MEMORY -> TerminateCode.RDMAP_CATASTROPHIC;
            case KEY_NOT_INVALIDATED -> TerminateCode.KEY_NOT_INVALIDATED;
        };
    }

    private static int syndrome(WorkStatus status) {
        return switch (status) {
            case REMOTE_ACCESS_ERROR -> Acknowledgement.ACCESS_ERROR;
            case REMOTE_INVALID_REQUEST -> Acknowledgement.INVALID_REQUEST;
            default -> Acknowledgement.OPERATION_ERROR;
        };
    }
}
