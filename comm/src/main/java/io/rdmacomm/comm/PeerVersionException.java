package io.rdmacomm.comm;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// The two sides speak no common version of the protocol. The message names the versions of both, and says
/// which side to update.
public final class PeerVersionException extends CommException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// A failure with one line that says what happened and what to do.
    public PeerVersionException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
