package io.rdmacomm.comm;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// The peer speaks another version of the protocol.
public final class PeerVersionException extends CommException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// A failure with one line that says what happened and what to do.
    public PeerVersionException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
