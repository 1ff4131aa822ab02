package io.rdmacomm.comm;

import io.rdmacomm.comm.setup.SetupException;
import io.rdmacomm.comm.setup.TcpConnector;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.RdmaInterruptedException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Connects to a server: one endpoint at a time. Thread-safe.
///
/// An endpoint that has failed stays failed. With [SessionOptions#withReconnect] the session then makes a new
/// one; the program must set its handlers, announce buffers and look up those of the server again. The
/// buffers of the session stay registered.
///
/// ```java
/// try (ClientSession client = ClientSession.connect(SessionOptions.defaults().withAddress("node7", 2020))) {
///     client.endPoint().channel(0).blocking().send(...);
/// }
/// ```
public final class ClientSession extends Session {
    private final String server;
    /// The settings without this side's GID index, which each endpoint looks up.
    private final SessionSettings given;
    private final CurrentEndPoint<EndPoint> current;
    private final @Nullable Reconnector<EndPoint> reconnector;

    private ClientSession(SessionSettings given, SessionOptions options, SessionDevice device) {
        super(options, device);
        this.given = given;
        this.server = address(given).name();
        this.current = new CurrentEndPoint<>(options.name(), options.reconnect(), EndPoint::connection);
        Reconnect reconnect = options.reconnect();
        this.reconnector = reconnect == null
                ? null
                : new Reconnector<>(
                        options.settings(),
                        server,
                        reconnect,
                        current,
                        errors(),
                        new ReconnectListener(),
                        this::connectAgain);
        current.set(reach(options.settings()));
    }

    /// Opens the device, connects and does the handshake. Blocks until the endpoint is ready to send.
    ///
    /// @throws io.rdmacomm.verbs.VerbException if there is no such device or it cannot be opened
    /// @throws SetupFailedException if the server cannot be reached, refuses or is not compatible; its reason says
    ///         why
    /// @throws PeerFailedException with GONE if the server went away during the setup
    /// @throws DeadlineException if the server was silent for too long
    /// @throws RdmaInterruptedException if the thread was interrupted
    public static ClientSession connect(SessionOptions options) {
        SessionOptions named = completed(options, "client", ThreadMode.PER_QUEUE_PAIR);
        SessionDevice device = SessionDevice.open(
                named.settings(),
                () -> address(named.settings()).localAddress(named.deadlines().connect()));
        boolean connected = false;
        try {
            ClientSession session =
                    new ClientSession(named.settings(), named.with(forConnection(device, named.settings())), device);
            session.show();
            connected = true;
            if (session.reconnector != null) {
                session.reconnector.start();
            }
            return session;
        } finally {
            if (!connected) {
                device.close();
            }
        }
    }

    /// The newest endpoint, which may have ended. Never blocks.
    public EndPoint endPoint() {
        return current.get();
    }

    /// Waits for an endpoint that is ready to send. If the newest one is ready, returns it at once; otherwise waits
    /// for the next one. The endpoint may fail at any time after that. Blocks.
    ///
    /// @param timeout how long to wait
    /// @throws DeadlineException if there was none in time
    /// @throws ClosedException if there will be none: the session is closed, has given up reconnecting (the message
    ///         says why) or does not reconnect
    /// @throws PeerDoneException if the server has closed it in an orderly way, and [Reconnect#afterPeerDone()] is
    ///         not set
    /// @throws IllegalStateException if a handler calls this, because it would wait for itself
    /// @throws RdmaInterruptedException if the thread was interrupted
    public EndPoint awaitEndPoint(Duration timeout) {
        if (isInHandler()) {
            throw new IllegalStateException(
                    "a blocking call in a handler would wait for itself; call it in another thread");
        }
        return current.awaitReady(timeout);
    }

    @Override
    void ended(EndPoint endPoint) {
        current.ended();
        super.ended(endPoint);
    }

    /// Makes one attempt to connect again. Reaches the server first, so that failed attempts allocate nothing.
    private EndPoint connectAgain(Duration timeout) {
        TcpConnector connector;
        try {
            connector = address(given).connect(timeout);
        } catch (SetupException e) {
            throw Failures.ofSetup(e);
        }
        boolean connected = false;
        try {
            SessionSettings complete = device().forConnection(given, connector::localAddress);
            EndPoint endPoint = connected(handshake(complete), server, () -> connector);
            connected = true;
            return endPoint;
        } finally {
            if (!connected) {
                connector.close();
            }
        }
    }

    @Override
    void stopAccepting() {
        current.end(new ClosedException(this + " is closed", null));
        if (reconnector != null) {
            reconnector.close();
        }
    }

    /// Notifies the session's listener.
    private final class ReconnectListener implements Reconnector.Listener<EndPoint> {
        @Override
        public void onEndPoint(EndPoint endPoint) {
            options().listener().onEndPoint(endPoint);
        }

        @Override
        public void onRefused(RdmaException failure) {
            options().listener().onRefused(server, failure);
        }

        @Override
        public void onGiveUp(RdmaException failure) {
            options().listener().onGiveUp(failure);
        }
    }
}
