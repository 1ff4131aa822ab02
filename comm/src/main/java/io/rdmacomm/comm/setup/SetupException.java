package io.rdmacomm.comm.setup;

import io.rdmacomm.verbs.RdmaException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// A step of the setup of an endpoint has failed. Callers may act on the reason.
public final class SetupException extends RdmaException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// The kind of failure: first the public reasons, with the same names as in SetupFailedException, then
    /// those that have more general exceptions.
    public enum Reason {
        HOST_UNKNOWN,
        REFUSED,
        BUSY,
        UNPROVED,
        PROTOCOL_VIOLATED,
        OTHER_VERSION,
        PORT_TAKEN,
        OTHER,
        PEER_CLOSED,
        DEADLINE_PASSED,
        /// It was closed by this side.
        CLOSED,
        INTERRUPTED
    }

    private final Reason reason;

    /// A failure with one line that says what happened and what to do.
    public SetupException(Reason reason, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    /// A failure without a cause.
    public SetupException(Reason reason, String message) {
        this(reason, message, null);
    }

    /// The kind of failure.
    public Reason reason() {
        return reason;
    }
}
