package io.rdmacomm.comm;

import io.rdmacomm.verbs.RdmaException;
import java.io.Serial;

/// The peer has called [EndPoint#abort], or this side has violated the protocol.
public final class PeerAbortedException extends RdmaException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// The code that the peer sends when this side has violated the protocol.
    public static final int PROTOCOL_VIOLATION = -1;

    private final int code;
    private final String reason;

    /// @param code the peer's number
    /// @param reason the peer's reason, one line
    PeerAbortedException(int code, String reason) {
        super("the peer has aborted: " + reason, null);
        this.code = code;
        this.reason = reason;
    }

    /// The number that the peer gave.
    public int code() {
        return code;
    }

    /// The reason that the peer gave, one line.
    public String reason() {
        return reason;
    }
}
