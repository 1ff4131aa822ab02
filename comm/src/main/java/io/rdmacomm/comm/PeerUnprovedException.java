package io.rdmacomm.comm;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// The two sides do not have the same [Secret]: one has another one, or none. Both sides throw it, or tell
/// [SessionListener#onRefused] of it.
public final class PeerUnprovedException extends CommException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// A failure with one line that says what happened and what to do.
    public PeerUnprovedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
