package io.rdmacomm.comm.setup;

import io.rdmacomm.verbs.RdmaException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// A step of setting an endpoint up has failed. The reason says what callers may want to tell apart: each has
/// a public exception of its own.
public final class SetUpException extends RdmaException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// The kind of failure.
    public enum Reason {
        /// The host has no address.
        HOST_UNKNOWN,
        /// Nobody listens there, or the peer refused.
        REFUSED,
        /// The peer refused for now, because too many are connecting.
        BUSY,
        /// The two sides do not have the same secret.
        UNPROVED,
        /// The peer speaks another protocol, or violates this one.
        PROTOCOL_VIOLATED,
        /// The two sides speak no common version of the protocol.
        OTHER_VERSION,
        /// The peer went away.
        PEER_CLOSED,
        /// It took too long.
        DEADLINE_PASSED,
        /// The port is taken.
        PORT_TAKEN,
        /// It was closed by this side.
        CLOSED,
        /// The thread was interrupted.
        INTERRUPTED,
        /// Anything else.
        OTHER
    }

    private final Reason reason;

    /// A failure with one line that says what happened and what to do.
    public SetUpException(Reason reason, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    /// A failure without a cause.
    public SetUpException(Reason reason, String message) {
        this(reason, message, null);
    }

    /// The kind of failure.
    public Reason reason() {
        return reason;
    }
}
