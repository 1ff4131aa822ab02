package io.rdmacomm.comm;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// A wait has passed its deadline.
public final class DeadlineException extends CommException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// A failure with one line that says what happened and what to do.
    public DeadlineException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
