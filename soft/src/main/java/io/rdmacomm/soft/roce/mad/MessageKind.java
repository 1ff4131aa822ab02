package io.rdmacomm.soft.roce.mad;

/// The message that another message is about (IBTA 12.6.6, 12.6.7).
public enum MessageKind {
    REQUEST(0),
    REPLY(1),
    OTHER(2);

    private static final int SHIFT = 6;

    private final int code;

    MessageKind(int code) {
        this.code = code;
    }

    /// The byte whose upper two bits are the kind.
    byte octet() {
        return (byte) (code << SHIFT);
    }

    /// The kind in the upper two bits of a byte.
    static MessageKind of(int octet) {
        return switch (octet >>> SHIFT) {
            case 0 -> REQUEST;
            case 1 -> REPLY;
            default -> OTHER;
        };
    }
}
