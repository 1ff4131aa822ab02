package io.rdmacomm.soft.iwarp;

/// Byte offsets from the first byte of a frame (FPDU), everything in network order (RFC 5044 4.1, RFC 5041 4,
/// RFC 5040 4, RFC 7306 5 and 6). Drawn in docs/55-iwarp-wire.md.
public final class FpduLayout {
    /// The number of bytes in the DDP segment that follows, 2 bytes; padding and checksum do not count.
    public static final int LENGTH = 0;
    /// DDP control: tagged, last, version.
    public static final int DDP_CONTROL = 2;
    /// RDMAP control: version, opcode.
    public static final int RDMAP_CONTROL = 3;
    /// Bytes that show how long the header is.
    public static final int PREFIX_BYTES = 4;

    /// Tagged: the key of the memory to place into.
    public static final int KEY = 4;
    /// Tagged: where in it, 8 bytes.
    public static final int ADDRESS = 8;
    /// Header of a tagged segment.
    public static final int TAGGED_BYTES = 16;

    /// Untagged: the key to invalidate, or immediate data of our own peers, or zero.
    public static final int UPPER_LAYER = 4;
    /// Untagged: the queue number.
    public static final int QUEUE = 8;
    /// Untagged: the number of the message in its queue, from 1.
    public static final int MESSAGE_NUMBER = 12;
    /// Untagged: where in the message.
    public static final int MESSAGE_OFFSET = 16;
    /// Header of an untagged segment, and where the header of its RDMAP message begins.
    public static final int UNTAGGED_BYTES = 20;

    /// Read Request: the key of the requester's memory.
    static final int SINK_KEY = 20;
    /// Read Request: the address in the requester's memory, 8 bytes.
    static final int SINK_ADDRESS = 24;
    /// Read Request: how many bytes.
    static final int READ_BYTES = 32;
    /// Read Request: the key of the responder's memory.
    static final int SOURCE_KEY = 36;
    /// Read Request: the address in the responder's memory, 8 bytes.
    static final int SOURCE_ADDRESS = 40;
    /// Header of a Read Request.
    public static final int READ_REQUEST_BYTES = 48;

    /// Atomic Request: the operation, in the lowest 4 bits.
    static final int ATOMIC_OPERATION = 20;
    /// Atomic Request: repeated in the response.
    static final int ATOMIC_IDENTIFIER = 24;
    /// Atomic Request: the key of the responder's memory.
    static final int ATOMIC_KEY = 28;
    /// Atomic Request: the address in the responder's memory, 8 bytes.
    static final int ATOMIC_ADDRESS = 32;
    /// Atomic Request: the value to add or store, 8 bytes.
    static final int ATOMIC_VALUE = 40;
    /// Atomic Request: the mask of that value, 8 bytes.
    static final int ATOMIC_VALUE_MASK = 48;
    /// Atomic Request: the value to compare with, 8 bytes.
    static final int ATOMIC_COMPARE = 56;
    /// Atomic Request: the mask of the comparison, 8 bytes.
    static final int ATOMIC_COMPARE_MASK = 64;
    /// Header of an Atomic Request.
    public static final int ATOMIC_REQUEST_BYTES = 72;

    /// Atomic Response: the identifier of the request.
    static final int ORIGINAL_IDENTIFIER = 20;
    /// Atomic Response: the old value, 8 bytes.
    static final int ORIGINAL_VALUE = 24;
    /// Header of an Atomic Response.
    public static final int ATOMIC_RESPONSE_BYTES = 32;

    /// Immediate Data: 8 bytes, of which verbs use the first 4.
    public static final int IMMEDIATE = 20;
    /// Header of Immediate Data.
    public static final int IMMEDIATE_BYTES = 28;

    /// Acknowledge (our own peers): how many requests were executed so far.
    static final int ACKNOWLEDGED = 20;
    /// Acknowledge: [Acknowledgement#syndrome].
    static final int SYNDROME = 24;
    /// Acknowledge: code of the receiver-not-ready timer.
    static final int RNR_TIMER = 25;
    /// Header of Acknowledge.
    public static final int ACKNOWLEDGE_BYTES = 28;

    /// Terminate: layer and type of the error.
    static final int TERMINATE_ERROR = 20;
    /// Terminate: code of the error.
    static final int TERMINATE_CODE = 21;
    /// Terminate: flags of the optional fields that follow.
    static final int TERMINATE_CONTROL = 22;
    /// Terminate: the optional fields.
    static final int TERMINATE_CONTEXT = 24;
    /// The fixed part of a Terminate.
    public static final int TERMINATE_BYTES = 24;

    /// The longest header.
    public static final int MAX_HEADER_BYTES = 72;

    private FpduLayout() {}
}
