package io.rdmacomm.verbs;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// The timeout of a call, or the deadline of its session, has passed.
///
/// Every call that cannot finish its work in time throws this: connecting, setting up, sending, collectives.
/// A call that waits for something that may not happen returns null, false or 0 instead, as documented there.
///
/// The call has ended, but work that it has posted may still be in flight. See the documentation of the call
/// for whether that work may still use memory.
public final class DeadlineException extends RdmaException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// A deadline that has passed.
    ///
    /// @param message the call that did not end in time, and what to do
    /// @param cause the underlying exception, or null
    public DeadlineException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
