package io.rdmacomm.comm;

import io.rdmacomm.comm.setup.LocalAddress;
import io.rdmacomm.comm.setup.SetUpException;
import io.rdmacomm.comm.setup.SetUpException.Reason;
import io.rdmacomm.comm.setup.TcpConnector;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/// Connects to a server: one endpoint. Thread-safe.
///
/// ```java
/// try (ClientSession client = ClientSession.connect(SessionOptions.defaults().withAddress("node7", 2020))) {
///     client.endPoint().channel(0).blocking().send(...);
/// }
/// ```
public final class ClientSession extends Session {
    private static final long PAUSE_NANOS = 20_000_000;

    private final EndPoint endPoint;

    private ClientSession(SessionOptions options, SessionDevice device) {
        super(options, device);
        String server = (options.host().isEmpty() ? "localhost" : options.host()) + ":" + options.port();
        this.endPoint = keep(handShake(options).connect(server, () -> reach(options)));
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
            SessionOptions settled = device.settle(
                    named,
                    () -> LocalAddress.towards(
                            named.host(), named.port(), named.deadlines().connect()));
            ClientSession session = new ClientSession(settled, device);
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

    /// Connects to the server, repeatedly if necessary.
    private static TcpConnector reach(SessionOptions options) {
        long deadline = System.nanoTime() + options.deadlines().connect().toNanos();
        SetUpException refused = null;
        while (true) {
            Duration left = Duration.ofNanos(Math.max(1_000_000, deadline - System.nanoTime()));
            try {
                return TcpConnector.connect(options.host(), options.port(), left);
            } catch (SetUpException e) {
                if (e.reason() == Reason.DEADLINE_PASSED && refused != null) {
                    // The last attempt has hardly any time, so the failure of an earlier one is more informative.
                    throw refused;
                }
                if (e.reason() != Reason.REFUSED
                        || !options.waitForServer()
                        || deadline - System.nanoTime() <= PAUSE_NANOS) {
                    throw e;
                }
                refused = e;
            }
            LockSupport.parkNanos(PAUSE_NANOS);
            if (Thread.currentThread().isInterrupted()) {
                throw new CommInterruptedException("interrupted while waiting for the server", null);
            }
        }
    }

    @Override
    void stopAccepting() {
        // There is one server, and it was connected to at the beginning.
    }
}
