package io.rdmacomm.comm;

import java.time.Duration;

/// Accepts clients on a TCP port for as long as it is open; each is set up on its own, so that a silent or
/// hostile one delays nobody. Usable from any thread.
///
/// ```java
/// try (ServerSession server = ServerSession.listen(SessionOptions.defaults())) {
///     EndPoint client = server.accept(Duration.ofMinutes(1));
///     ...
/// }
/// ```
@SuppressWarnings("DoNotCallSuggester")
public final class ServerSession extends Session {
    private ServerSession() {}

    /// Opens the device and listens.
    ///
    /// @throws io.rdmacomm.verbs.RdmaException if there is no such device or it cannot be opened
    /// @throws PeerUnknownException if the host has no address
    /// @throws CommException if the address cannot be listened on; the message says why
    public static ServerSession listen(SessionOptions options) {
        throw Checks.unfinished();
    }

    /// The TCP port it listens on.
    public int port() {
        throw Checks.unfinished();
    }

    /// Waits for the next client that is ready to send. Blocks; several threads may wait, each gets another
    /// client.
    ///
    /// @param timeout how long to wait at the most
    /// @throws DeadlineException if there was none in time
    /// @throws ClosedException if the session is or gets closed
    /// @throws CommInterruptedException if the thread was interrupted
    public EndPoint accept(Duration timeout) {
        throw Checks.unfinished();
    }
}
