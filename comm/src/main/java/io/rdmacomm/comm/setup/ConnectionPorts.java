package io.rdmacomm.comm.setup;

import io.rdmacomm.comm.setup.SetupException.Reason;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.service.Closer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/// The ports at which the connection manager of a server listens for the queue pairs of its clients: one configured
/// port for all clients, or, without one, a free port at each address that clients have reached, because the
/// address may select the device. Thread-safe.
public final class ConnectionPorts implements AutoCloseable {
    private final Supplier<ConnectionManager> connections;
    private final InetAddress address;
    private final int port;
    private final ConnectionOptions how;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<InetAddress, TicketListener> listeners = new HashMap<>();
    private boolean closed;

    /// Does not listen yet.
    ///
    /// @param connections the connection manager of the device
    /// @param address where the server listens; the wildcard address for all addresses
    /// @param port the port for queue pairs; 0 for any free one
    /// @param how the options of the queue pairs
    public ConnectionPorts(
            Supplier<ConnectionManager> connections, InetAddress address, int port, ConnectionOptions how) {
        this.connections = connections;
        this.address = address;
        this.port = port;
        this.how = how;
    }

    /// Listens on the configured port, so that a server fails at its start if the port is taken.
    ///
    /// @throws SetupException PORT_TAKEN
    /// @throws io.rdmacomm.verbs.VerbException if the device cannot listen there; the message says why
    public void open() {
        if (port != 0) {
            var _ = at(address);
        }
    }

    /// The listener for a client.
    ///
    /// @param reached the address of this host that the client has connected to
    /// @throws SetupException CLOSED, if this was closed
    public TicketListener at(InetAddress reached) {
        InetAddress where = port == 0 ? reached : address;
        lock.lock();
        try {
            if (closed) {
                throw new SetupException(Reason.CLOSED, "the server is closed");
            }
            TicketListener listener = listeners.get(where);
            if (listener == null || !listener.isOpen()) {
                if (listener != null) {
                    listener.close();
                }
                listener = TicketListener.open(connections.get(), new InetSocketAddress(where, port), how);
                listeners.put(where, listener);
            }
            return listener;
        } finally {
            lock.unlock();
        }
    }

    /// Stops listening and wakes all threads that wait for a client.
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            for (TicketListener listener : listeners.values()) {
                Closer.step(listener, listener::close);
            }
            listeners.clear();
        } finally {
            lock.unlock();
        }
    }
}
