package io.rdmacomm.verbs;

/// The operation of a send work request (`enum ibv_wr_opcode`, ibv_post_send(3)).
public enum SendOpcode {
    /// Writes local memory to remote memory.
    WRITE(0),
    /// WRITE that then completes a receive of the peer with 32 bits of immediate data.
    WRITE_WITH_IMMEDIATE(1),
    /// Sends local memory to the next receive of the peer.
    SEND(2),
    /// SEND with 32 bits of immediate data.
    SEND_WITH_IMMEDIATE(3),
    /// Reads remote memory to local memory.
    READ(4),
    /// Replaces 8 remote bytes if they have the expected value.
    COMPARE_AND_SWAP(5),
    /// Adds to 8 remote bytes.
    FETCH_AND_ADD(6),
    /// Invalidates a local key.
    LOCAL_INVALIDATE(7),
    /// Binds a memory window of type 2.
    BIND_WINDOW(8),
    /// SEND that invalidates a key of the peer.
    SEND_WITH_INVALIDATE(9),
    /// A code that this version does not know.
    UNKNOWN(-1);

    private static final SendOpcode[] VALUES = values();

    private final int code;

    SendOpcode(int code) {
        this.code = code;
    }

    /// The value in the C API.
    public int code() {
        return code;
    }

    /// The constant with this code, or [#UNKNOWN].
    public static SendOpcode of(int code) {
        return Codes.find(VALUES, SendOpcode::code, code, UNKNOWN);
    }
}
