package io.rdmacomm.soft.transport;

import java.nio.channels.SelectionKey;
import org.jspecify.annotations.Nullable;

/// Pauses a listening socket for a moment when a connection cannot be accepted: most likely too many files are
/// open, and an immediate retry would only waste time. Callers stay in the socket's queue meanwhile. Only for the
/// thread that selects.
public final class AcceptPause {
    private static final long NANOS = 100_000_000;

    private @Nullable SelectionKey key;
    private long until;

    /// Begins or extends a pause.
    ///
    /// @param listening the key of the listening socket
    public void begin(SelectionKey listening) {
        listening.interestOps(0);
        key = listening;
        until = System.nanoTime() + NANOS;
    }

    /// Ends the pause if it is over. Call it before each select.
    ///
    /// @return nanoseconds until the next call is due, [Long#MAX_VALUE] for never
    public long endIfOver() {
        SelectionKey paused = key;
        if (paused == null) {
            return Long.MAX_VALUE;
        }
        long left = until - System.nanoTime();
        if (left > 0) {
            return left;
        }
        key = null;
        if (paused.isValid()) {
            paused.interestOps(SelectionKey.OP_ACCEPT);
        }
        return Long.MAX_VALUE;
    }
}
