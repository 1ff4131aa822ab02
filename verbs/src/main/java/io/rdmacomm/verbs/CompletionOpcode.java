package io.rdmacomm.verbs;

import io.rdmacomm.verbs.spi.CompletionLayout;
import java.util.Arrays;

/// The kind of work that a completion reports (`enum ibv_wc_opcode`). Not valid when the status is not
/// [WorkStatus#SUCCESS].
public enum CompletionOpcode {
    /// A SEND of any kind.
    SEND(0),
    /// A WRITE of any kind.
    WRITE(1),
    /// A READ.
    READ(2),
    /// A compare-and-swap.
    COMPARE_AND_SWAP(3),
    /// A fetch-and-add.
    FETCH_AND_ADD(4),
    /// A memory window was bound.
    BIND_WINDOW(5),
    /// A key was invalidated.
    LOCAL_INVALIDATE(6),
    /// A message arrived.
    RECEIVE(CompletionLayout.OPCODE_RECEIVE),
    /// The immediate data of a WRITE arrived.
    RECEIVE_WRITE_WITH_IMMEDIATE(129),
    /// A code that this version does not know.
    UNKNOWN(-1);

    private static final CompletionOpcode[] BY_CODE = byCode();

    private final int code;

    CompletionOpcode(int code) {
        this.code = code;
    }

    /// The value in the C API.
    public int code() {
        return code;
    }

    /// Whether `code` reports a receive; all of these have the bit IBV_WC_RECV.
    public static boolean isReceive(int code) {
        return (code & CompletionLayout.OPCODE_RECEIVE) != 0;
    }

    /// The constant with this code, or [#UNKNOWN].
    public static CompletionOpcode of(int code) {
        return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : UNKNOWN;
    }

    private static CompletionOpcode[] byCode() {
        CompletionOpcode[] byCode = new CompletionOpcode[RECEIVE_WRITE_WITH_IMMEDIATE.code + 1];
        Arrays.fill(byCode, UNKNOWN);
        for (CompletionOpcode value : values()) {
            if (value != UNKNOWN) {
                byCode[value.code] = value;
            }
        }
        return byCode;
    }
}
