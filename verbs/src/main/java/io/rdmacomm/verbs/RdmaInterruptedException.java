package io.rdmacomm.verbs;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// The calling thread was interrupted, before or while it waited. Its interrupt flag is set.
///
/// Every blocking call throws this, in verbs, the connection manager and sessions alike, except the `close`
/// methods, which finish first. The call has ended, but work that it has posted may still be in flight. See
/// the documentation of the call for whether that work may still use memory.
public final class RdmaInterruptedException extends RdmaException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// Sets the interrupt flag of the calling thread.
    ///
    /// @param meanwhile what was interrupted, for example `interrupted while connecting to ...`
    /// @param cause the underlying exception, or null
    public RdmaInterruptedException(String meanwhile, @Nullable Throwable cause) {
        super(meanwhile, cause);
        Thread.currentThread().interrupt();
    }
}
