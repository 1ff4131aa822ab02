package io.rdmacomm.comm;

/// Connects to a server: one end point. Usable from any thread.
///
/// ```java
/// try (ClientSession client = ClientSession.connect(SessionOptions.defaults().withAddress("node7", 2020))) {
///     client.endPoint().channel(0).blocking().send(...);
/// }
/// ```
@SuppressWarnings("DoNotCallSuggester")
public final class ClientSession extends Session {
    private ClientSession() {}

    /// Opens the device, connects and shakes hands. Blocks until the end point is ready to send.
    ///
    /// @throws io.rdmacomm.verbs.RdmaException if there is no such device or it cannot be opened
    /// @throws PeerUnknownException if the host has no address
    /// @throws PeerRefusedException if nobody listens there, or the server refused and said why
    /// @throws PeerProtocolException if another program listens there
    /// @throws PeerVersionException if the server speaks another version of the protocol
    /// @throws PeerClosedException if the server went away meanwhile
    /// @throws DeadlineException if the server was silent for too long
    /// @throws CommInterruptedException if the thread was interrupted
    public static ClientSession connect(SessionOptions options) {
        throw Checks.unfinished();
    }

    /// The connection to the server.
    public EndPoint endPoint() {
        throw Checks.unfinished();
    }
}
