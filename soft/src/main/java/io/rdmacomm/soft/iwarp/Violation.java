package io.rdmacomm.soft.iwarp;

/// A fault in a frame, and the answer to the peer before the stream ends. A return value, never an exception:
/// hostile frames must cost no more than good ones.
public enum Violation {
    /// No fault.
    NONE(TerminateCode.UNKNOWN, "in order"),
    /// The frame is shorter than its header.
    TOO_SHORT(TerminateCode.FRAME_LENGTH, "a frame shorter than the header of its message"),
    /// There are bytes behind a message of fixed length.
    TOO_LONG(TerminateCode.FRAME_LENGTH, "bytes behind a message of fixed length"),
    /// The checksum does not match.
    CHECKSUM(TerminateCode.CHECKSUM, "a frame with a wrong checksum"),
    /// The DDP version of a tagged segment is not 1.
    TAGGED_VERSION(TerminateCode.TAGGED_VERSION, "a tagged segment of another DDP version"),
    /// The DDP version of an untagged segment is not 1.
    UNTAGGED_VERSION(TerminateCode.UNTAGGED_VERSION, "an untagged segment of another DDP version"),
    /// The RDMAP version is not 1.
    RDMAP_VERSION(TerminateCode.RDMAP_VERSION, "a segment of another RDMAP version"),
    /// The opcode is unknown.
    UNKNOWN_OPCODE(TerminateCode.UNEXPECTED_OPCODE, "an unknown opcode"),
    /// The opcode is not one that the two sides agreed on.
    NOT_NEGOTIATED(TerminateCode.UNEXPECTED_OPCODE, "an opcode that was not agreed on"),
    /// An untagged message came in a tagged segment, or the reverse.
    BUFFER_MODEL(TerminateCode.UNEXPECTED_OPCODE, "an opcode of the other buffer model"),
    /// The queue number is not that of the opcode.
    QUEUE(TerminateCode.UNTAGGED_QUEUE, "a message for the wrong queue"),
    /// A message that must be one segment was split.
    SEGMENTED(TerminateCode.MESSAGE_OFFSET, "a message in segments that must be one"),
    /// The address of tagged data and its length exceed 64 bits.
    TAGGED_ADDRESS_WRAP(TerminateCode.TAGGED_ADDRESS_WRAP, "tagged data whose address wraps around"),
    /// The address of a request and its length exceed 64 bits.
    ADDRESS_WRAP(TerminateCode.ADDRESS_WRAP, "a request whose address wraps around"),
    /// A message is longer than 2^32 - 1 bytes.
    MESSAGE_TOO_LONG(TerminateCode.MESSAGE_TOO_LONG, "a message of more than 4 GiB"),
    /// The atomic operation is unknown.
    ATOMIC_OPERATION(TerminateCode.OPERATION, "an unknown atomic operation"),
    /// The address of an atomic operation is not a multiple of 8.
    ATOMIC_ALIGNMENT(TerminateCode.OPERATION, "an atomic operation on a misaligned address"),
    /// The masks of an atomic operation are not those of verbs.
    ATOMIC_MASK(TerminateCode.OPERATION, "an atomic operation with masks"),
    /// A message number is not the next.
    MESSAGE_NUMBER(TerminateCode.MESSAGE_NUMBER, "a message out of order"),
    /// A segment is not where the one before ended.
    MESSAGE_OFFSET(TerminateCode.MESSAGE_OFFSET, "a segment out of order"),
    /// A segment of another message comes before the message is complete.
    INTERLEAVED(TerminateCode.UNEXPECTED_OPCODE, "a message inside another one"),
    /// A tagged segment does not continue where the one before ended.
    TAGGED_CONTINUATION(TerminateCode.TAGGED_OUT_OF_BOUNDS, "a tagged segment that does not continue its message"),
    /// A segment follows a Terminate.
    AFTER_TERMINATE(TerminateCode.STREAM_CATASTROPHIC, "a message after the end of the stream"),
    /// An acknowledgement is invalid.
    ACKNOWLEDGEMENT(TerminateCode.STREAM_CATASTROPHIC, "an invalid acknowledgement");

    private final TerminateCode answer;
    private final String text;

    Violation(TerminateCode answer, String text) {
        this.answer = answer;
        this.text = text;
    }

    /// The answer to the peer.
    public TerminateCode answer() {
        return answer;
    }

    /// The description of the violation, for messages.
    @Override
    public String toString() {
        return text;
    }
}
