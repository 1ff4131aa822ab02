package io.rdmacomm.comm;

import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.WorkStatus;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// An operation was accepted and did not succeed. The message names the operation, the channel, the peer, the
/// status and what to do; the cause, if there is one, is what ended the channel before the operation.
public final class OperationException extends RdmaException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final WorkStatus status;
    private final int vendorError;

    /// A failure with one line that says what happened and what to do.
    public OperationException(String message, WorkStatus status, int vendorError, @Nullable Throwable cause) {
        super(message, cause);
        this.status = status;
        this.vendorError = vendorError;
    }

    /// How the operation ended; FLUSHED if its channel ended before it did.
    public WorkStatus status() {
        return status;
    }

    /// The device's error code for the failure; 0 if it has none.
    public int vendorError() {
        return vendorError;
    }
}
