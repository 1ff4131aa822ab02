package io.rdmacomm.comm;

import io.rdmacomm.verbs.RdmaException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// The session, endpoint or channel was closed by this side or has failed. After a failure the cause says why.
/// The subclass [PeerDoneException] says that the peer has ended the connection in an orderly way.
public sealed class ClosedException extends RdmaException permits PeerDoneException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// A failure with one line that says what happened and what to do.
    public ClosedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /// The same failure with the stack of the calling thread.
    ClosedException again() {
        return new ClosedException(getMessage(), getCause());
    }
}
