package io.rdmacomm.verbs;

/// How a work request ended (`enum ibv_wc_status`, ibv_poll_cq(3)).
///
/// After any status but [#SUCCESS] on a connected queue pair, the queue pair is in the error state and everything
/// else posted to it ends with [#FLUSHED].
public enum WorkStatus {
    /// Done.
    SUCCESS(0),
    /// The message is longer than allowed, or than the receive posted for it.
    LOCAL_LENGTH_ERROR(1),
    /// The request does not fit the queue pair.
    LOCAL_QUEUE_PAIR_ERROR(2),
    /// Reliable datagram only.
    LOCAL_EE_CONTEXT_ERROR(3),
    /// A local key, range, protection domain or right is wrong.
    LOCAL_PROTECTION_ERROR(4),
    /// The request was queued when its queue pair went to the error state; it had no effect.
    FLUSHED(5),
    /// A memory window could not be bound.
    WINDOW_BIND_ERROR(6),
    /// The peer sent an unexpected response.
    BAD_RESPONSE(7),
    /// A WRITE with immediate data named memory that this side does not allow.
    LOCAL_ACCESS_ERROR(8),
    /// The peer refused the request: not enabled on its queue pair, misaligned, or longer than its receive.
    REMOTE_INVALID_REQUEST(9),
    /// The remote key, range, protection domain or right is wrong.
    REMOTE_ACCESS_ERROR(10),
    /// The peer could not carry the request out.
    REMOTE_OPERATION_ERROR(11),
    /// No answer within all retries: the peer is dead, was never there, or has other numbers.
    RETRY_EXCEEDED(12),
    /// The peer had no receive posted within all retries.
    RECEIVER_NOT_READY_EXCEEDED(13),
    /// Reliable datagram only.
    LOCAL_RDD_VIOLATION(14),
    /// Reliable datagram only.
    REMOTE_INVALID_READ_REQUEST(15),
    /// The peer gave the operation up.
    REMOTE_ABORTED(16),
    /// Reliable datagram only.
    INVALID_EE_CONTEXT_NUMBER(17),
    /// Reliable datagram only.
    INVALID_EE_CONTEXT_STATE(18),
    /// The transport failed for good.
    FATAL_ERROR(19),
    /// The response did not come in time.
    RESPONSE_TIMEOUT(20),
    /// Another transport error; see the vendor error.
    GENERAL_ERROR(21),
    /// Tag matching failed.
    TAG_MATCHING_ERROR(22),
    /// A tag matching rendezvous is incomplete.
    TAG_MATCHING_RENDEZVOUS_INCOMPLETE(23),
    /// A number that this list does not know.
    UNKNOWN(-1);

    private static final WorkStatus[] VALUES = values();

    private final int code;

    WorkStatus(int code) {
        this.code = code;
    }

    /// The number that C programs see.
    public int code() {
        return code;
    }

    /// The constant of `code`, or [#UNKNOWN].
    public static WorkStatus of(int code) {
        for (WorkStatus value : VALUES) {
            if (value.code == code) {
                return value;
            }
        }
        return UNKNOWN;
    }
}
