package io.rdmacomm.comm;

import io.rdmacomm.verbs.RdmaException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// A session, end point, channel or operation failed. The message is one line that says what was tried, with
/// whom, what happened and, where that is known, what to do. The subclass says what callers may want to tell
/// apart.
public class CommException extends RdmaException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final String line;

    /// A failure with one line that says what happened and what to do.
    public CommException(String message, @Nullable Throwable cause) {
        super(message, cause);
        this.line = message;
    }

    /// What happened and what to do, in one line.
    @Override
    public final String getMessage() {
        return line;
    }
}
