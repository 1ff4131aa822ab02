package io.rdmacomm.soft.iwarp;

import io.rdmacomm.verbs.WorkStatus;

/// Why a stream was ended, as in a Terminate message (RFC 5040 4.8, RFC 5041 8.2, RFC 5044 8, RFC 6581 8).
public enum TerminateCode {
    /// RDMAP, local catastrophic error.
    RDMAP_CATASTROPHIC(0, 0, 0, "RDMAP, the peer failed", WorkStatus.REMOTE_OPERATION_ERROR),
    /// RDMAP, remote protection: the key is unknown.
    INVALID_KEY(0, 1, 0, "RDMAP remote protection, invalid key", WorkStatus.REMOTE_ACCESS_ERROR),
    /// RDMAP, remote protection: outside of the memory.
    OUT_OF_BOUNDS(0, 1, 1, "RDMAP remote protection, outside of the memory", WorkStatus.REMOTE_ACCESS_ERROR),
    /// RDMAP, remote protection: the memory does not have the right.
    MISSING_RIGHT(0, 1, 2, "RDMAP remote protection, access right missing", WorkStatus.REMOTE_ACCESS_ERROR),
    /// RDMAP, remote protection: the key is not of this stream's protection domain.
    OTHER_DOMAIN(0, 1, 3, "RDMAP remote protection, key of another domain", WorkStatus.REMOTE_ACCESS_ERROR),
    /// RDMAP, remote protection: address and length exceed 64 bits.
    ADDRESS_WRAP(0, 1, 4, "RDMAP remote protection, address wraps around", WorkStatus.REMOTE_ACCESS_ERROR),
    /// RDMAP, remote protection: the key cannot be invalidated.
    KEY_NOT_INVALIDATED(0, 1, 9, "RDMAP remote protection, key cannot be invalidated", WorkStatus.REMOTE_ACCESS_ERROR),
    /// RDMAP, remote protection, without details.
    PROTECTION(0, 1, 0xff, "RDMAP remote protection", WorkStatus.REMOTE_ACCESS_ERROR),
    /// RDMAP, remote operation: the version is not 1.
    RDMAP_VERSION(0, 2, 5, "RDMAP remote operation, invalid version", WorkStatus.REMOTE_OPERATION_ERROR),
    /// RDMAP, remote operation: the opcode is unknown, or does not belong here.
    UNEXPECTED_OPCODE(0, 2, 6, "RDMAP remote operation, unexpected opcode", WorkStatus.REMOTE_INVALID_REQUEST),
    /// RDMAP, remote operation: the stream cannot continue, for example too many requests.
    STREAM_CATASTROPHIC(0, 2, 7, "RDMAP remote operation, the stream failed", WorkStatus.REMOTE_OPERATION_ERROR),
    /// RDMAP, remote operation: the device cannot continue.
    GLOBAL_CATASTROPHIC(0, 2, 8, "RDMAP remote operation, the peer failed", WorkStatus.REMOTE_OPERATION_ERROR),
    /// RDMAP, remote operation: the key cannot be invalidated.
    INVALIDATE_REFUSED(0, 2, 9, "RDMAP remote operation, key cannot be invalidated", WorkStatus.REMOTE_ACCESS_ERROR),
    /// RDMAP, remote operation, without details.
    OPERATION(0, 2, 0xff, "RDMAP remote operation", WorkStatus.REMOTE_INVALID_REQUEST),

    /// DDP, local catastrophic error.
    DDP_CATASTROPHIC(1, 0, 0, "DDP, the peer failed", WorkStatus.REMOTE_OPERATION_ERROR),
    /// DDP, tagged: the key is unknown.
    TAGGED_INVALID_KEY(1, 1, 0, "DDP tagged, invalid key", WorkStatus.REMOTE_ACCESS_ERROR),
    /// DDP, tagged: outside of the memory.
    TAGGED_OUT_OF_BOUNDS(1, 1, 1, "DDP tagged, outside of the memory", WorkStatus.REMOTE_ACCESS_ERROR),
    /// DDP, tagged: the key is not of this stream's protection domain.
    TAGGED_OTHER_DOMAIN(1, 1, 2, "DDP tagged, key of another domain", WorkStatus.REMOTE_ACCESS_ERROR),
    /// DDP, tagged: address and length exceed 64 bits.
    TAGGED_ADDRESS_WRAP(1, 1, 3, "DDP tagged, address wraps around", WorkStatus.REMOTE_ACCESS_ERROR),
    /// DDP, tagged: the version is not 1.
    TAGGED_VERSION(1, 1, 4, "DDP tagged, invalid version", WorkStatus.REMOTE_OPERATION_ERROR),
    /// DDP, untagged: there is no such queue, or the opcode does not belong to it.
    UNTAGGED_QUEUE(1, 2, 1, "DDP untagged, invalid queue number", WorkStatus.REMOTE_OPERATION_ERROR),
    /// DDP, untagged: no receive is posted. iWARP has no retries: the stream ends.
    NO_RECEIVE(1, 2, 2, "DDP untagged, no receive posted", WorkStatus.RECEIVER_NOT_READY_EXCEEDED),
    /// DDP, untagged: the message number is not the next.
    MESSAGE_NUMBER(1, 2, 3, "DDP untagged, message number out of range", WorkStatus.REMOTE_OPERATION_ERROR),
    /// DDP, untagged: the offset in the message is not where the segment before ended.
    MESSAGE_OFFSET(1, 2, 4, "DDP untagged, invalid message offset", WorkStatus.REMOTE_OPERATION_ERROR),
    /// DDP, untagged: the message is longer than the receive.
    MESSAGE_TOO_LONG(1, 2, 5, "DDP untagged, message too long for its receive", WorkStatus.REMOTE_INVALID_REQUEST),
    /// DDP, untagged: the version is not 1.
    UNTAGGED_VERSION(1, 2, 6, "DDP untagged, invalid version", WorkStatus.REMOTE_OPERATION_ERROR),

    /// MPA: the TCP connection was lost.
    CONNECTION_LOST(2, 0, 1, "MPA, TCP connection lost", WorkStatus.RETRY_EXCEEDED),
    /// MPA: the checksum is wrong.
    CHECKSUM(2, 0, 2, "MPA, wrong checksum", WorkStatus.FATAL_ERROR),
    /// MPA: the length of the frame does not fit its content.
    FRAME_LENGTH(2, 0, 3, "MPA, frame length or marker mismatch", WorkStatus.FATAL_ERROR),
    /// MPA: the request or reply frame is invalid.
    INVALID_SETUP(2, 0, 4, "MPA, invalid request or reply frame", WorkStatus.FATAL_ERROR),
    /// MPA: local catastrophic error.
    MPA_CATASTROPHIC(2, 0, 5, "MPA, the peer failed", WorkStatus.FATAL_ERROR),
    /// MPA: more READs are requested than are available.
    INSUFFICIENT_IRD(2, 0, 6, "MPA, not enough inbound READs", WorkStatus.FATAL_ERROR),
    /// MPA: the two sides have no ready-to-receive frame in common.
    NO_MATCHING_RTR(2, 0, 7, "MPA, no matching ready-to-receive frame", WorkStatus.FATAL_ERROR),
    /// Numbers that are not in this list.
    UNKNOWN(-1, -1, -1, "unknown reason", WorkStatus.REMOTE_OPERATION_ERROR);

    private static final TerminateCode[] VALUES = values();

    private final int layer;
    private final int type;
    private final int code;
    private final String text;
    private final WorkStatus workStatus;

    TerminateCode(int layer, int type, int code, String text, WorkStatus workStatus) {
        this.layer = layer;
        this.type = type;
        this.code = code;
        this.text = text;
        this.workStatus = workStatus;
    }

    /// 0 RDMAP, 1 DDP, 2 the layer below.
    public int layer() {
        return layer;
    }

    /// The type of the error within its layer.
    public int type() {
        return type;
    }

    /// The error code within its type.
    public int code() {
        return code;
    }

    /// The status of the request here that the peer refused with this code.
    public WorkStatus workStatus() {
        return workStatus;
    }

    /// Whether a key, range or right was refused.
    public boolean isProtection() {
        return workStatus == WorkStatus.REMOTE_ACCESS_ERROR;
    }

    /// The constant with these numbers, or [#UNKNOWN].
    public static TerminateCode of(int layer, int type, int code) {
        for (TerminateCode value : VALUES) {
            if (value.layer == layer && value.type == type && value.code == code) {
                return value;
            }
        }
        return UNKNOWN;
    }

    /// For messages, for example `DDP untagged, no receive posted`.
    @Override
    public String toString() {
        return text;
    }
}
