package io.rdmacomm.comm.setup;

import io.rdmacomm.verbs.service.SafeLogger;
import java.lang.System.Logger.Level;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Phaser;

/// Serves each connection that a port has accepted on a virtual thread of its own. A connection is a newcomer until it
/// is known, and of too many newcomers the oldest gives way. Thread-safe.
public final class Reception {
    private static final SafeLogger LOGGER = SafeLogger.ofPackage(Reception.class);
    /// The most connections of strangers at a time.
    public static final int MOST_NEWCOMERS = 1024;

    /// The work of a server for a connection.
    @FunctionalInterface
    public interface Service {
        /// Serves a connection, and closes it unless somebody else owns it then. Blocks.
        ///
        /// @return the rest, for which [Reception#close] does not wait: calls of the user's code,
        ///         which may close the server
        Runnable serve(TcpConnector connection);
    }

    private final String threadName;
    private final Newcomers newcomers;
    private final Service service;
    private final Set<TcpConnector> served = ConcurrentHashMap.newKeySet();
    private final Phaser services = new Phaser(1);

    /// @param threadName the beginning of the names of the threads
    /// @param mostOfAnOrigin how many newcomers may come from one address
    public Reception(String threadName, int mostOfAnOrigin, Service service) {
        this.threadName = threadName;
        this.newcomers = new Newcomers(MOST_NEWCOMERS, mostOfAnOrigin);
        this.service = service;
        // Strangers may have taken all file descriptors when there is something to log.
        LOGGER.prepare();
    }

    /// Begins to serve a connection. Does not block.
    public void welcome(TcpConnector connection) {
        newcomers.add(connection);
        served.add(connection);
        services.register();
        boolean begun = false;
        try {
            Thread.ofVirtual().name(threadName + connection.peer()).start(() -> serve(connection));
            begun = true;
        } finally {
            if (!begun) {
                leave(connection);
                connection.close();
            }
        }
    }

    /// A connection has proved itself, or said hello: it does not give way any more. Idempotent.
    public void known(TcpConnector connection) {
        newcomers.leave(connection);
    }

    private void serve(TcpConnector connection) {
        Runnable rest;
        try {
            rest = service.serve(connection);
        } catch (RuntimeException | Error e) {
            LOGGER.log(Level.ERROR, "serving " + connection.peer() + " failed", e);
            connection.close();
            return;
        } finally {
            leave(connection);
        }
        rest.run();
    }

    private void leave(TcpConnector connection) {
        newcomers.leave(connection);
        served.remove(connection);
        services.arriveAndDeregister();
    }

    /// Closes all connections that are being served, and waits until that has ended. For when no more are accepted.
    public void close() {
        served.forEach(TcpConnector::close);
        services.arriveAndAwaitAdvance();
    }
}
