package io.rdmacomm.comm;

import io.rdmacomm.verbs.RdmaException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// A session, endpoint, channel or operation failed. The message is one line: what was tried, with which peer,
/// what happened and, if known, what to do. Subclasses separate the failures that callers may want to
/// distinguish.
public class CommException extends RdmaException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final String line;

    /// A failure with one line that says what happened and what to do.
    public CommException(String message, @Nullable Throwable cause) {
        super(message, cause);
        this.line = message;
    }

    /// One line that says what happened and what to do.
    @Override
    public final String getMessage() {
        return line;
    }
}
