package io.rdmacomm.comm;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// Another socket has the port that a server was to listen on.
public final class PortTakenException extends CommException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// A failure with one line that says what happened and what to do.
    public PortTakenException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
