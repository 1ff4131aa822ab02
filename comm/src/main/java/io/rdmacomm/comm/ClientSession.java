package io.rdmacomm.comm;

/// Connects to a server: one endpoint. Thread-safe.
///
/// ```java
/// try (ClientSession client = ClientSession.connect(SessionOptions.defaults().withAddress("node7", 2020))) {
///     client.endPoint().channel(0).blocking().send(...);
/// }
/// ```
public final class ClientSession extends Session {
    private final EndPoint endPoint;

    private ClientSession(SessionOptions options, SessionDevice device) {
        super(options, device);
        this.endPoint = reach(options);
    }

    /// Opens the device, connects and does the handshake. Blocks until the endpoint is ready to send.
    ///
    /// @throws io.rdmacomm.verbs.VerbException if there is no such device or it cannot be opened
    /// @throws PeerUnknownException if the host has no address
    /// @throws PeerRefusedException if nobody listens there, or the server refused; the message contains its
    ///         reason
    /// @throws PeerProtocolException if another program listens there
    /// @throws PeerVersionException if the server speaks another version of the protocol
    /// @throws PeerClosedException if the server went away meanwhile
    /// @throws DeadlineException if the server was silent for too long
    /// @throws CommInterruptedException if the thread was interrupted
    public static ClientSession connect(SessionOptions options) {
        SessionOptions named = named(options, "client");
        SessionDevice device = SessionDevice.open(named, named.name());
        boolean connected = false;
        try {
            ClientSession session = new ClientSession(ServerReach.settle(device, named), device);
            session.show();
            connected = true;
            return session;
        } finally {
            if (!connected) {
                device.close();
            }
        }
    }

    /// The connection to the server.
    public EndPoint endPoint() {
        return endPoint;
    }

    @Override
    void stopAccepting() {
        // There is one server, and it was connected to at the beginning.
    }
}
