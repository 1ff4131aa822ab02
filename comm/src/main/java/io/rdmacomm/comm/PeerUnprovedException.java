package io.rdmacomm.comm;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// The peer could not be authenticated: the two sides do not have the same [Secret], only one of them has [Tls], or one
/// rejects the certificate of the other. Both sides throw it, or tell [SessionListener#onRefused] of it.
public final class PeerUnprovedException extends CommException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// A failure with one line that says what happened and what to do.
    public PeerUnprovedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
