package io.rdmacomm.comm;

import io.rdmacomm.verbs.RdmaException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// The peer went away without an orderly close or during the setup, or it no longer answers, which looks the
/// same from this side.
public final class PeerClosedException extends RdmaException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// A failure with one line that says what happened and what to do.
    public PeerClosedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
