package io.rdmacomm.comm;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// The name of the host has no address.
public final class PeerUnknownException extends CommException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// A failure with one line that says what happened and what to do.
    public PeerUnknownException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
