package io.rdmacomm.verbs;

/// The result of a work request (`enum ibv_wc_status`, ibv_poll_cq(3)).
///
/// After any status except [#SUCCESS], a connected queue pair is in the error state, and all other requests end
/// with [#FLUSHED].
public enum WorkStatus {
    /// The work succeeded.
    SUCCESS(0),
    /// The message is longer than allowed, or than the receive that it arrived in.
    LOCAL_LENGTH_ERROR(1),
    /// The request does not fit the queue pair.
    LOCAL_QUEUE_PAIR_ERROR(2),
    /// Reliable datagram only.
    LOCAL_EE_CONTEXT_ERROR(3),
    /// A local key, address range, protection domain or access right is wrong.
    LOCAL_PROTECTION_ERROR(4),
    /// The queue pair entered the error state before the request was executed.
    FLUSHED(5),
    /// Binding a memory window failed.
    WINDOW_BIND_ERROR(6),
    /// The peer sent an unexpected response.
    BAD_RESPONSE(7),
    /// A WRITE with immediate data was directed at memory that this side does not allow.
    LOCAL_ACCESS_ERROR(8),
    /// The peer rejected the request: not enabled on its queue pair, misaligned, or longer than its receive.
    REMOTE_INVALID_REQUEST(9),
    /// The remote key, address range, protection domain or access right is wrong.
    REMOTE_ACCESS_ERROR(10),
    /// The peer could not execute the request.
    REMOTE_OPERATION_ERROR(11),
    /// The peer did not acknowledge within all retries: it is gone, never existed, or has other numbers.
    RETRY_EXCEEDED(12),
    /// The peer had no receive posted within all retries.
    RECEIVER_NOT_READY_EXCEEDED(13),
    /// Reliable datagram only.
    LOCAL_RDD_VIOLATION(14),
    /// Reliable datagram only.
    REMOTE_INVALID_READ_REQUEST(15),
    /// The peer aborted the operation.
    REMOTE_ABORTED(16),
    /// Reliable datagram only.
    INVALID_EE_CONTEXT_NUMBER(17),
    /// Reliable datagram only.
    INVALID_EE_CONTEXT_STATE(18),
    /// The transport failed permanently.
    FATAL_ERROR(19),
    /// The response did not arrive in time.
    RESPONSE_TIMEOUT(20),
    /// Another transport error; see the vendor error.
    GENERAL_ERROR(21),
    /// Tag matching failed.
    TAG_MATCHING_ERROR(22),
    /// A tag matching rendezvous is incomplete.
    TAG_MATCHING_RENDEZVOUS_INCOMPLETE(23),
    /// A code that this version does not know.
    UNKNOWN(-1);

    private static final WorkStatus[] VALUES = values();

    private final int code;

    WorkStatus(int code) {
        this.code = code;
    }

    /// The value in the C API.
    public int code() {
        return code;
    }

    /// The constant with this code, or [#UNKNOWN].
    public static WorkStatus of(int code) {
        return Codes.find(VALUES, WorkStatus::code, code, UNKNOWN);
    }
}
