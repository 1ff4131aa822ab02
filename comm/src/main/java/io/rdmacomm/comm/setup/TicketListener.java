package io.rdmacomm.comm.setup;

import io.rdmacomm.comm.setup.SetupException.Reason;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.RdmaInterruptedException;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.cm.Listener;
import io.rdmacomm.verbs.service.Closer;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.service.ServiceThread;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// One listener of the connection manager for any number of clients. Each client has its own token, and a
/// thread dispatches every request to the client whose token it contains. All others are rejected at once, so
/// that strangers do not delay clients. Thread-safe.
public final class TicketListener implements AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.ofPackage(TicketListener.class);
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int BACKLOG = 1024;
    private static final Duration NEXT_REQUEST = Duration.ofHours(1);

    private final Listener<ConnectionRequest> listener;
    private final Map<Long, AcceptingConnector> expected = new ConcurrentHashMap<>();
    private final ServiceThread thread;
    private volatile @Nullable SetupException end;

    private TicketListener(Listener<ConnectionRequest> listener) {
        this.listener = listener;
        this.thread = new ServiceThread(
                "rdmacomm-tickets-" + listener.localAddress().getPort(), LOGGER, this::serve, this::ended);
    }

    /// Listens.
    ///
    /// @param address where to listen; port 0 for any free one
    /// @param how the options of the queue pairs
    /// @throws SetupException PORT_TAKEN
    /// @throws VerbException if the device cannot listen there; the message says why
    static TicketListener open(ConnectionManager manager, InetSocketAddress address, ConnectionOptions how) {
        Listener<ConnectionRequest> listener;
        try {
            listener = manager.listen(address, BACKLOG, IdentifierOptions.of(how.path()));
        } catch (VerbException e) {
            if (e.errno() != Errno.EADDRINUSE) {
                throw e;
            }
            if (address.getPort() == 0) {
                // The kernel listens on all devices at a loopback address, which only one iWARP device can have.
                throw new SetupException(
                        Reason.OTHER,
                        "the " + manager + " cannot listen at "
                                + address.getAddress().getHostAddress()
                                + "; connect to an address of the device's network interface instead",
                        e);
            }
            throw new SetupException(
                    Reason.PORT_TAKEN,
                    "the " + manager + " cannot listen on port " + address.getPort()
                            + ": it is taken; choose another port, or stop the program that uses it",
                    e);
        }
        TicketListener tickets = new TicketListener(listener);
        boolean started = false;
        try {
            var _ = tickets.thread.start();
            started = true;
        } finally {
            if (!started) {
                listener.close();
            }
        }
        return tickets;
    }

    int port() {
        return listener.localAddress().getPort();
    }

    /// Whether requests are dispatched.
    boolean isOpen() {
        return end == null;
    }

    /// Accepts requests of a new client until the connector is closed.
    ///
    /// @param timeout how long each step of the client may take
    public AcceptingConnector expect(Duration timeout) {
        AcceptingConnector client = new AcceptingConnector(this, RANDOM.nextLong(), timeout);
        expected.put(client.token(), client);
        SetupException over = end;
        if (over != null) {
            client.end(over);
        }
        return client;
    }

    void forget(AcceptingConnector client) {
        expected.remove(client.token());
    }

    private boolean serve() {
        ConnectionRequest request;
        try {
            request = listener.awaitRequest(NEXT_REQUEST);
        } catch (IllegalStateException e) {
            end = new SetupException(Reason.CLOSED, listener + " is closed", e);
            return false;
        } catch (RdmaInterruptedException e) {
            return true;
        } catch (RuntimeException | Error e) {
            // Waiting clients fail now, and the next client gets a new listener.
            end = new SetupException(Reason.OTHER, listener + " failed: " + e.getMessage(), e);
            return false;
        }
        if (request != null) {
            dispatch(request);
        }
        return true;
    }

    /// Requests are no longer dispatched, so no client must wait for one.
    private void ended() {
        SetupException why = end;
        if (why == null) {
            why = new SetupException(Reason.OTHER, listener + " has lost its thread");
            end = why;
        }
        for (AcceptingConnector client : expected.values()) {
            client.end(why);
        }
    }

    private void dispatch(ConnectionRequest request) {
        boolean taken = false;
        try {
            taken = isTaken(request);
        } catch (RuntimeException | Error e) {
            thread.report(e);
        }
        if (!taken) {
            Closer.step("a request of " + listener, request::close);
        }
    }

    private boolean isTaken(ConnectionRequest request) {
        Long token = ConnectionTicket.tokenIn(request.privateData());
        AcceptingConnector client = token == null ? null : expected.get(token);
        return client != null && client.take(request);
    }

    /// Stops listening and wakes all threads that wait for a client.
    @Override
    public void close() {
        listener.close();
        thread.join();
    }

    @Override
    public String toString() {
        return listener.toString();
    }
}
