package io.rdmacomm.comm;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// Nobody listens there, the host cannot be reached, or the peer refused the connection and said why.
public final class PeerRefusedException extends CommException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final boolean forNow;

    /// A failure with one line that says what happened and what to do.
    public PeerRefusedException(String message, @Nullable Throwable cause) {
        this(message, cause, false);
    }

    private PeerRefusedException(String message, @Nullable Throwable cause, boolean forNow) {
        super(message, cause);
        this.forNow = forNow;
    }

    static PeerRefusedException forNow(String message, @Nullable Throwable cause) {
        return new PeerRefusedException(message, cause, true);
    }

    /// Whether the peer was only busy with others, and trying again makes sense.
    boolean isForNow() {
        return forNow;
    }
}
