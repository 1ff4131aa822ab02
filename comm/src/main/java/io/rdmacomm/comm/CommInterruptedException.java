package io.rdmacomm.comm;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// The waiting thread was interrupted; its interrupt flag is set again.
public final class CommInterruptedException extends CommException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// A failure with one line that says what happened and what to do.
    public CommInterruptedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
