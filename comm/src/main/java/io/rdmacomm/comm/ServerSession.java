package io.rdmacomm.comm;

import io.rdmacomm.comm.setup.AcceptLoop;
import io.rdmacomm.comm.setup.AcceptedConnections;
import io.rdmacomm.comm.setup.ConnectionPorts;
import io.rdmacomm.comm.setup.SetupException;
import io.rdmacomm.comm.setup.SetupLine;
import io.rdmacomm.comm.setup.TcpConnector;
import io.rdmacomm.comm.setup.TcpListener;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.RdmaInterruptedException;
import io.rdmacomm.verbs.counters.CountersPublisher;
import io.rdmacomm.verbs.service.SafeLogger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// Accepts clients on a TCP port for as long as it is open; each is set up separately, so that a silent or
/// hostile client does not delay the others. Unless the options name a host, it is reachable only from this
/// host. It can also connect to other servers: then endpoints in both directions share one device and the
/// same buffers, for peer-to-peer programs. Thread-safe.
///
/// ```java
/// try (ServerSession server = ServerSession.listen(SessionOptions.defaults())) {
///     EndPoint client = server.accept(Duration.ofMinutes(1));
///     ...
/// }
/// ```
public final class ServerSession extends Session {
    private static final SafeLogger LOGGER = SafeLogger.ofPackage(ServerSession.class);
    private static final int MOST_NEWCOMERS_OF_AN_ORIGIN = 256;

    private final TcpListener listener;
    private final Handshake handshake;
    private final ConnectionPorts ports;
    private final AcceptLoop<TcpConnector> acceptor;
    private final ClientQuota places;
    private final SetupLine line;
    private final AcceptedConnections connections;
    private final InterruptibleCalls connecting = new InterruptibleCalls(toString());
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition arrived = lock.newCondition();
    private final Queue<EndPoint> ready = new ArrayDeque<>();

    private ServerSession(SessionOptions options, SessionDevice device, TcpListener listener) {
        super(options, device);
        this.listener = listener;
        this.handshake = handshake(options.settings());
        this.ports = new ConnectionPorts(
                device::connections,
                listener.address(),
                options.connectionPort(),
                options.channel().connection());
        this.connections = new AcceptedConnections("rdmacomm-setup-", MOST_NEWCOMERS_OF_AN_ORIGIN, this::serve);
        this.acceptor =
                new AcceptLoop<>("rdmacomm-accept-" + name(), listener::accept, connections::welcome, this::portClosed);
        this.places = new ClientQuota(options.limits());
        this.line = new SetupLine(options.limits().setupsPerAddress());
    }

    /// Opens the device and listens.
    ///
    /// @throws io.rdmacomm.verbs.VerbException if there is no such device, it cannot be opened, or its
    ///         connection manager cannot listen on [SessionOptions#connectionPort()] at this address
    /// @throws SetupFailedException if the port or the connection port is taken, the host has no address, or the
    ///         address cannot be listened on
    public static ServerSession listen(SessionOptions options) {
        SessionOptions named = completed(options, "server", ThreadMode.SHARED_CQ);
        TcpListener listener = listenOn(options);
        SessionDevice device = null;
        boolean listening = false;
        try {
            SessionOptions given = named.withPort(listener.port());
            device = SessionDevice.open(given.settings(), listener::address);
            SessionOptions complete = given.with(device.onPort(given.settings()));
            ServerSession session = new ServerSession(complete, device, listener);
            if (complete.setup() != Setup.NUMBERS) {
                session.ports.open();
            }
            session.show();
            session.acceptor.start();
            listening = true;
            // No client waits for this, and `rdmacomm top` shows the server at once.
            CountersPublisher.PROCESS.tick();
            session.warnIfOpenToAll();
            return session;
        } catch (SetupException e) {
            throw Failures.ofSetup(e);
        } finally {
            if (!listening) {
                listener.close();
                if (device != null) {
                    device.close();
                }
            }
        }
    }

    private static TcpListener listenOn(SessionOptions options) {
        try {
            return TcpListener.listen(options.host(), options.port());
        } catch (SetupException e) {
            throw Failures.ofSetup(e);
        }
    }

    /// Warns if other hosts can connect without authentication.
    private void warnIfOpenToAll() {
        InetAddress address = listener.address();
        if (address.isLoopbackAddress()
                || options().secret() != null
                || options().tls() != null) {
            return;
        }
        String where = address.isAnyLocalAddress() ? "all addresses" : address.getHostAddress();
        LOGGER.log(
                Level.WARNING,
                this + " listens on port " + port() + " of " + where + " without a secret and without TLS: anyone who"
                        + " reaches it can connect; set SessionOptions.withSecret or withTls, or leave the host out to"
                        + " listen on loopback");
    }

    /// The TCP port it listens on.
    public int port() {
        return listener.port();
    }

    /// Waits for the next client. Blocks; if several threads wait, each gets a different client.
    ///
    /// A client may have ended before it is accepted. Its messages can still be received; see [EndPoint#state()]
    /// and [EndPoint#failure()] for how it ended. Close it as any other: until then it counts toward
    /// [SessionOptions#limits()].
    ///
    /// @param timeout how long to wait
    /// @throws DeadlineException if there was none in time
    /// @throws ClosedException if the session is closed, before or during the call
    /// @throws RdmaInterruptedException if the thread was interrupted
    public EndPoint accept(Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        lock.lock();
        try {
            while (true) {
                checkOpen();
                EndPoint next = ready.poll();
                if (next != null) {
                    return next;
                }
                long left = deadline - System.nanoTime();
                if (left <= 0) {
                    throw new DeadlineException(
                            "no client connected to port " + port() + " within " + timeout.toMillis() + " ms", null);
                }
                var _ = arrived.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            throw new RdmaInterruptedException("interrupted while waiting for a client", e);
        } finally {
            lock.unlock();
        }
    }

    /// Connects to another server, with the options of this session except host, port and connect deadline.
    /// Blocks until the endpoint is ready to send. This endpoint is neither returned by [#accept] nor passed
    /// to [SessionListener#onEndPoint].
    ///
    /// @param host a name, an IPv4 or an IPv6 address; empty for this host
    /// @param port 1 to 65535
    /// @param timeout how long to try to reach the server
    /// @throws SetupFailedException if the server cannot be reached, refuses or is not compatible; its reason says
    ///         why
    /// @throws PeerFailedException with GONE if the server went away during the setup
    /// @throws DeadlineException if the server was silent for too long
    /// @throws ClosedException if the session is closed, before or during the call
    /// @throws RdmaInterruptedException if the thread was interrupted
    public EndPoint connect(String host, int port, Duration timeout) {
        SessionSettings there = options()
                .withAddress(host, port)
                .withDeadlines(options().deadlines().withConnect(timeout))
                .settings();
        return connecting.run(() -> reach(forConnection(device(), there)));
    }

    /// The port was closed from outside, perhaps by an interrupt of all threads of the process.
    private void portClosed() {
        if (isOpen()) {
            lost("the port " + port() + " of " + this + " was closed from outside; open a new session");
        }
    }

    private Runnable serve(TcpConnector connector) {
        EndPoint endPoint;
        try {
            endPoint = isOpen() ? accepted(connector) : null;
        } catch (RdmaException e) {
            LOGGER.log(Level.DEBUG, () -> "client " + connector.peer() + " was not set up: " + e.getMessage());
            return () -> notifyListener("onRefused", () -> options().listener().onRefused(connector.peer(), e));
        }
        if (endPoint == null) {
            connector.close();
            return () -> {};
        }
        return () -> announce(endPoint);
    }

    private EndPoint accepted(TcpConnector connector) {
        Owner owner = new Owner();
        var _ = handshake.accept(connector, ports, places, line, () -> connections.known(connector), owner);
        return keep(owner.endPoint());
    }

    private void announce(EndPoint endPoint) {
        lock.lock();
        try {
            ready.removeIf(old -> old.state() == EndPointState.CLOSED);
            ready.add(endPoint);
            arrived.signal();
        } finally {
            lock.unlock();
        }
        notifyListener("onEndPoint of " + endPoint, () -> options().listener().onEndPoint(endPoint));
    }

    @Override
    void stopAccepting() {
        listener.close();
        lock.lock();
        try {
            arrived.signalAll();
        } finally {
            lock.unlock();
        }
        connecting.close();
        acceptor.join();
        ports.close();
        connections.close();
    }
}
