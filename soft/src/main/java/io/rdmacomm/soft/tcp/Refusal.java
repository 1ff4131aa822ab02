package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.iwarp.Acknowledgement;
import io.rdmacomm.soft.iwarp.TerminateCode;
import io.rdmacomm.soft.iwarp.Violation;
import io.rdmacomm.soft.memory.AccessFault;
import io.rdmacomm.verbs.AsyncEventType;

/// Why a request of the peer was rejected, which ends the link.
///
/// @param code for a peer of another make
/// @param syndrome for our own peers
/// @param event to be raised here, or [AsyncEventType#UNKNOWN]
record Refusal(TerminateCode code, int syndrome, AsyncEventType event) {
    /// The peer broke a rule of the protocol.
    static Refusal of(Violation violation) {
        TerminateCode code = violation.answer();
        AsyncEventType event =
                code.isProtection() ? AsyncEventType.QUEUE_PAIR_ACCESS_ERROR : AsyncEventType.QUEUE_PAIR_REQUEST_ERROR;
        return new Refusal(code, syndrome(code), event);
    }

    /// The memory that a Write names is refused where it is placed, by DDP, which has no rights (RFC 5041 7).
    static Refusal ofWrite(AccessFault fault) {
        return protection(
                switch (fault) {
                    case INVALID_KEY -> TerminateCode.TAGGED_INVALID_KEY;
                    case OUT_OF_BOUNDS -> TerminateCode.TAGGED_OUT_OF_BOUNDS;
                    case MISSING_RIGHT -> TerminateCode.MISSING_RIGHT;
                    case OTHER_DOMAIN -> TerminateCode.TAGGED_OTHER_DOMAIN;
                });
    }

    /// The memory that a Read or Atomic Request names is refused where it is read, by RDMAP (RFC 5040 7.1).
    static Refusal ofRead(AccessFault fault) {
        return protection(
                switch (fault) {
                    case INVALID_KEY -> TerminateCode.INVALID_KEY;
                    case OUT_OF_BOUNDS -> TerminateCode.OUT_OF_BOUNDS;
                    case MISSING_RIGHT -> TerminateCode.MISSING_RIGHT;
                    case OTHER_DOMAIN -> TerminateCode.OTHER_DOMAIN;
                });
    }

    private static Refusal protection(TerminateCode code) {
        return new Refusal(code, Acknowledgement.ACCESS_ERROR, AsyncEventType.QUEUE_PAIR_ACCESS_ERROR);
    }

    private static int syndrome(TerminateCode code) {
        return switch (code.workStatus()) {
            case REMOTE_ACCESS_ERROR -> Acknowledgement.ACCESS_ERROR;
            case REMOTE_INVALID_REQUEST -> Acknowledgement.INVALID_REQUEST;
            default -> Acknowledgement.OPERATION_ERROR;
        };
    }
}
