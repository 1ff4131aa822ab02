package io.rdmacomm.verbs;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// The base class of everything that rdmacomm throws on purpose, so that one `catch` covers a failed verbs call
/// ([VerbException]), a failed session, endpoint or channel, a missed deadline ([DeadlineException]) and an
/// interrupt ([RdmaInterruptedException]). Subclasses separate the failures that callers may want to distinguish. A
/// wrong argument is an [IllegalArgumentException] and a call on a closed object an [IllegalStateException], as
/// everywhere in Java.
///
/// The message is for people: the attempted operation, the object, what happened and, where known, what to
/// do.
public class RdmaException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final String line;

    /// A failure described by its message.
    ///
    /// @param message what happened and what to do
    /// @param cause the underlying exception, or null
    public RdmaException(String message, @Nullable Throwable cause) {
        super(message, cause);
        this.line = message;
    }

    /// What happened and what to do, in one line.
    @Override
    public final String getMessage() {
        return line;
    }
}
