package io.rdmacomm.soft.memory;

/// The codes of [io.rdmacomm.verbs.SendOpcode], as constants for a switch.
public final class RequestOpcode {
    /// The code of `SendOpcode.WRITE`.
    public static final int WRITE = 0;
    /// The code of `SendOpcode.WRITE_WITH_IMMEDIATE`.
    public static final int WRITE_WITH_IMMEDIATE = 1;
    /// The code of `SendOpcode.SEND`.
    public static final int SEND = 2;
    /// The code of `SendOpcode.SEND_WITH_IMMEDIATE`.
    public static final int SEND_WITH_IMMEDIATE = 3;
    /// The code of `SendOpcode.READ`.
    public static final int READ = 4;
    /// The code of `SendOpcode.COMPARE_AND_SWAP`.
    public static final int COMPARE_AND_SWAP = 5;
    /// The code of `SendOpcode.FETCH_AND_ADD`.
    public static final int FETCH_AND_ADD = 6;
    /// The code of `SendOpcode.LOCAL_INVALIDATE`.
    public static final int LOCAL_INVALIDATE = 7;
    /// The code of `SendOpcode.BIND_WINDOW`.
    public static final int BIND_WINDOW = 8;
    /// The code of `SendOpcode.SEND_WITH_INVALIDATE`.
    public static final int SEND_WITH_INVALIDATE = 9;

    private RequestOpcode() {}

    /// Whether a request concerns only this side, or is unknown.
    public static boolean isLocal(int opcode) {
        return opcode == LOCAL_INVALIDATE || opcode == BIND_WINDOW || opcode < WRITE || opcode > SEND_WITH_INVALIDATE;
    }

    /// Whether it is an atomic operation.
    public static boolean isAtomic(int opcode) {
        return opcode == COMPARE_AND_SWAP || opcode == FETCH_AND_ADD;
    }

    /// Whether it is answered with data: a READ or an atomic operation.
    public static boolean isRead(int opcode) {
        return opcode == READ || isAtomic(opcode);
    }

    /// Whether it has immediate data.
    public static boolean hasImmediate(int opcode) {
        return opcode == WRITE_WITH_IMMEDIATE || opcode == SEND_WITH_IMMEDIATE;
    }
}
