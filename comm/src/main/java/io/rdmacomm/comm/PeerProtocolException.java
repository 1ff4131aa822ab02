package io.rdmacomm.comm;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// The peer sent what this protocol does not allow: another program listens on that port, or connected to it.
public final class PeerProtocolException extends CommException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// A failure with one line that says what happened and what to do.
    public PeerProtocolException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
