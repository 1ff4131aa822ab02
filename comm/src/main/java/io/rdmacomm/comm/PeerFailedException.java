package io.rdmacomm.comm;

import io.rdmacomm.verbs.RdmaException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// The peer has failed: its connection cannot be used any more. The message says what happened; the reason is for
/// programs that act on it.
///
/// A peer that closed its side in an orderly way has not failed: that is a [PeerDoneException].
public final class PeerFailedException extends RdmaException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// The code that the peer sends when this side has violated the protocol.
    public static final int PROTOCOL_VIOLATION = -1;

    /// The kinds of failure. Later versions may have more: a `switch` over them needs a `default`.
    public enum Reason {
        /// The peer went away without an orderly close or during the setup, or it no longer answers, which looks
        /// the same from this side.
        GONE,
        /// The peer has called [EndPoint#abort], or this side has violated the protocol.
        ABORTED,
        /// The peer has violated the protocol.
        PROTOCOL_VIOLATED
    }

    private final Reason reason;
    private final int code;
    private final String peerMessage;

    /// A failure with one line that says what happened and what to do.
    public PeerFailedException(Reason reason, String message, @Nullable Throwable cause) {
        this(reason, message, cause, 0, "");
    }

    private PeerFailedException(
            Reason reason, String message, @Nullable Throwable cause, int code, String peerMessage) {
        super(message, cause);
        this.reason = reason;
        this.code = code;
        this.peerMessage = peerMessage;
    }

    static PeerFailedException gone(String message, @Nullable Throwable cause) {
        return new PeerFailedException(Reason.GONE, message, cause);
    }

    /// @param code the peer's number
    /// @param peerMessage the peer's message, one line
    static PeerFailedException aborted(int code, String peerMessage) {
        return new PeerFailedException(Reason.ABORTED, "the peer has aborted: " + peerMessage, null, code, peerMessage);
    }

    static PeerFailedException protocolViolated(String message, @Nullable Throwable cause) {
        return new PeerFailedException(Reason.PROTOCOL_VIOLATED, message, cause);
    }

    /// Whether `failure` says that a peer has failed for this reason.
    static boolean is(Reason reason, Throwable failure) {
        return failure instanceof PeerFailedException failed && failed.reason == reason;
    }

    /// The kind of failure.
    public Reason reason() {
        return reason;
    }

    /// The number that the peer gave with ABORTED; 0 with other reasons.
    public int code() {
        return code;
    }

    /// The message that the peer gave with ABORTED, one line; empty with other reasons.
    public String peerMessage() {
        return peerMessage;
    }
}
