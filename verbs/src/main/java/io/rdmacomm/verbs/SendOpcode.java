package io.rdmacomm.verbs;

/// What a send work request does (`enum ibv_wr_opcode`, ibv_post_send(3)).
public enum SendOpcode {
    /// Writes local memory to remote memory.
    WRITE(0),
    /// WRITE, then completes a receive of the peer with 32 bits.
    WRITE_WITH_IMMEDIATE(1),
    /// Sends local memory to the peer's next receive.
    SEND(2),
    /// SEND with 32 bits.
    SEND_WITH_IMMEDIATE(3),
    /// Reads remote memory to local memory.
    READ(4),
    /// Replaces 8 remote bytes if they have the expected value.
    COMPARE_AND_SWAP(5),
    /// Adds to 8 remote bytes.
    FETCH_AND_ADD(6),
    /// Invalidates a key of this side.
    LOCAL_INVALIDATE(7),
    /// Binds a memory window of type 2.
    BIND_WINDOW(8),
    /// SEND that invalidates a key of the peer.
    SEND_WITH_INVALIDATE(9),
    /// A number that this list does not know.
    UNKNOWN(-1);

    private static final SendOpcode[] VALUES = values();

    private final int code;

    SendOpcode(int code) {
        this.code = code;
    }

    /// The number that C programs see.
    public int code() {
        return code;
    }

    /// The constant of `code`, or [#UNKNOWN].
    public static SendOpcode of(int code) {
        for (SendOpcode value : VALUES) {
            if (value.code == code) {
                return value;
            }
        }
        return UNKNOWN;
    }
}
