package io.rdmacomm.soft.roce.mad;

/// The message that another message is about, in the order of its codes (IBTA 12.6.6, 12.6.7).
public enum MessageKind {
    REQUEST,
    REPLY,
    OTHER;

    private static final int SHIFT = 6;

    /// The kind in the upper two bits of a byte.
    static MessageKind of(int octet) {
        return switch (octet >>> SHIFT) {
            case 0 -> REQUEST;
            case 1 -> REPLY;
            default -> OTHER;
        };
    }
}
