package io.rdmacomm.comm;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// The session, end point or channel was closed by this side or has failed; then the cause says why.
public final class ClosedException extends CommException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// A failure with one line that says what happened and what to do.
    public ClosedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
