package io.rdmacomm.comm;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// Nobody listens there, the host cannot be reached, or the peer refused the connection and said why.
public final class PeerRefusedException extends CommException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// A failure with one line that says what happened and what to do.
    public PeerRefusedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
