package io.rdmacomm.cli.rig;

import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.verbs.DeadlineException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Accepts the clients of a server that runs until it is closed.
public final class Clients {
    private static final Duration LONG_TIME = Duration.ofHours(1);

    private Clients() {}

    /// Waits for the next client, for as long as it takes.
    ///
    /// @return the client; null if the session was closed
    public static @Nullable EndPoint next(ServerSession session) {
        while (session.isOpen()) {
            try {
                return session.accept(LONG_TIME);
            } catch (DeadlineException _) {
                // No client yet: keep waiting.
            } catch (ClosedException e) {
                if (session.isOpen()) {
                    throw e;
                }
            }
        }
        return null;
    }
}
