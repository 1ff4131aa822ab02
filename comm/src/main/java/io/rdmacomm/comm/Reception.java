package io.rdmacomm.comm;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/// Where the connection manager of a server listens for the queue pairs of its clients: at the port that the
/// options name, for all of them; without one, at a free port of each address that clients reach, because the
/// address may say which device is meant. Usable from any thread.
final class Reception implements AutoCloseable {
    private final SessionDevice device;
    private final InetAddress address;
    private final int port;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<InetAddress, TicketListener> listeners = new HashMap<>();
    private boolean closed;

    /// Listens nowhere yet.
    ///
    /// @param address where the server listens; the wildcard address for everywhere
    /// @param port the port for queue pairs; 0 for any free one
    Reception(SessionDevice device, InetAddress address, int port) {
        this.device = device;
        this.address = address;
        this.port = port;
    }

    /// Listens at the port that was named, so that a server that cannot have it is told when it starts.
    ///
    /// @throws PortTakenException if the port is taken
    /// @throws io.rdmacomm.verbs.VerbException if the device cannot listen there; the message says why
    void open() {
        if (port != 0) {
            var _ = at(address);
        }
    }

    /// What listens for a client.
    ///
    /// @param reached the address of this host that the client has connected to
    /// @throws ClosedException if this was closed
    TicketListener at(InetAddress reached) {
        InetAddress where = port == 0 ? reached : address;
        lock.lock();
        try {
            if (closed) {
                throw new ClosedException("the server is closed", null);
            }
            TicketListener listener = listeners.get(where);
            if (listener == null || !listener.isOpen()) {
                if (listener != null) {
                    listener.close();
                }
                listener = TicketListener.open(device.connections(), new InetSocketAddress(where, port));
                listeners.put(where, listener);
            }
            return listener;
        } finally {
            lock.unlock();
        }
    }

    /// Stops listening and wakes who waits for a client.
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            for (TicketListener listener : listeners.values()) {
                Closer.step(listener.toString(), listener::close);
            }
            listeners.clear();
        } finally {
            lock.unlock();
        }
    }
}
