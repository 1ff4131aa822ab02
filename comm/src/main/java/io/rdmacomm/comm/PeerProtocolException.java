package io.rdmacomm.comm;

import io.rdmacomm.verbs.RdmaException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// The peer of an endpoint has violated the protocol.
public final class PeerProtocolException extends RdmaException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// A failure with one line that says what happened and what to do.
    public PeerProtocolException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
