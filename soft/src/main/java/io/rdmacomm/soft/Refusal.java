package io.rdmacomm.soft;

import io.rdmacomm.soft.iwarp.Acknowledgement;
import io.rdmacomm.soft.iwarp.TerminateCode;
import io.rdmacomm.soft.iwarp.Violation;
import io.rdmacomm.verbs.AsyncEventType;

/// Why a request of the peer was refused, which ends the link.
///
/// @param code what a peer of another make is told
/// @param syndrome what our own peers are told
/// @param event to be raised here, or [AsyncEventType#UNKNOWN]
record Refusal(TerminateCode code, int syndrome, AsyncEventType event) {
    /// The peer broke a rule of the protocol.
    static Refusal of(Violation violation) {
        TerminateCode code = violation.answer();
        AsyncEventType event =
                code.isProtection() ? AsyncEventType.QUEUE_PAIR_ACCESS_ERROR : AsyncEventType.QUEUE_PAIR_REQUEST_ERROR;
        return new Refusal(code, syndrome(code), event);
    }

    private static int syndrome(TerminateCode code) {
        return switch (code.workStatus()) {
            case REMOTE_ACCESS_ERROR -> Acknowledgement.ACCESS_ERROR;
            case REMOTE_INVALID_REQUEST -> Acknowledgement.INVALID_REQUEST;
            default -> Acknowledgement.OPERATION_ERROR;
        };
    }
}
