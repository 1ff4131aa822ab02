package io.rdmacomm.nio.rsocket;

/// The messages between two rsockets: 32 bits, of which the highest three are the operation (`RS_OP_*` in
/// rsocket.c).
final class RsMessage {
    /// The sender has ended both directions.
    static final int DISCONNECT = 0xe000_0000;
    /// The sender has ended its direction.
    static final int SHUTDOWN = 0xe000_0002;
    /// The most bytes that one message can announce.
    static final int MAX_DATA = (1 << 29) - 1;

    private static final int CREDITS = 0x8000_0000;
    private static final int MAPPING = 0xc000_0000;
    private static final int OPERATION_SHIFT = 29;
    private static final int LIMIT_MASK = 0xffff;

    /// The meaning of a message.
    enum Kind {
        /// Bytes were written to the receive ring; the value is their number.
        DATA,
        /// The receiver may send more messages, and perhaps write more bytes; the value is the new limit.
        CREDITS,
        /// An entry of the table of mappings was written; the value is its index.
        MAPPING,
        /// [RsMessage#DISCONNECT].
        DISCONNECT,
        /// [RsMessage#SHUTDOWN].
        SHUTDOWN,
        /// Not part of the protocol.
        UNKNOWN
    }

    private static final int OPERATION_DATA = 0;
    private static final int OPERATION_CREDITS = 4;
    private static final int OPERATION_MAPPING = 6;

    private RsMessage() {}

    /// Announces `bytes` bytes, at least 1: a reader takes 0 as the end of the stream.
    static int data(int bytes) {
        return bytes;
    }

    /// Allows messages up to the sequence number before `limit`, of which only the lower 16 bits are sent.
    static int credits(int limit) {
        return CREDITS | (limit & LIMIT_MASK);
    }

    /// Announces a new entry in the peer's table of mappings.
    static int mapping(int index) {
        return MAPPING | index;
    }

    static Kind kind(int message) {
        if (message == DISCONNECT) {
            return Kind.DISCONNECT;
        }
        if (message == SHUTDOWN) {
            return Kind.SHUTDOWN;
        }
        return switch (message >>> OPERATION_SHIFT) {
            case OPERATION_DATA -> message == 0 ? Kind.UNKNOWN : Kind.DATA;
            case OPERATION_CREDITS -> Kind.CREDITS;
            case OPERATION_MAPPING -> Kind.MAPPING;
            default -> Kind.UNKNOWN;
        };
    }

    /// The number of bytes that a [Kind#DATA] message announces.
    static int bytes(int message) {
        return message & MAX_DATA;
    }

    /// The index in a [Kind#MAPPING] message.
    static int index(int message) {
        return message & MAX_DATA;
    }

    /// The limit in a [Kind#CREDITS] message. The C library computes it with more bits than are valid.
    static int limit(int message) {
        return message & LIMIT_MASK;
    }
}
