package io.rdmacomm.comm.setup;

import io.rdmacomm.verbs.service.Closer;
import io.rdmacomm.verbs.service.HalfMade;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.service.SystemSockets;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.DatagramPacket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.DatagramChannel;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// Serves each accepted connection of a port on a separate virtual thread. A connection is a newcomer until it is
/// known; if there are too many newcomers, the oldest one is closed. Thread-safe.
public final class AcceptedConnections {
    private static final SafeLogger LOGGER = SafeLogger.ofPackage(AcceptedConnections.class);
    /// The most connections of strangers at a time.
    public static final int MOST_NEWCOMERS = 1024;

    /// The work of a server for a connection.
    @FunctionalInterface
    public interface Service {
        /// Serves a connection. Afterwards, closes it unless it has a new owner. Blocks.
        ///
        /// @return the remaining work, for which a close does not wait: calls of the program,
        ///         which may close the server
        Runnable serve(TcpConnector connection);
    }

    private final String threadName;
    private final HalfMade<TcpConnector> newcomers;
    private final Service service;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition ended = lock.newCondition();
    private final Set<TcpConnector> served = new HashSet<>();
    private final CompletableFuture<Void> prepared;

    /// @param threadName the beginning of the names of the threads
    /// @param mostOfAnOrigin the most newcomers of one address
    public AcceptedConnections(String threadName, int mostOfAnOrigin, Service service) {
        this.threadName = threadName;
        this.newcomers = new HalfMade<>(MOST_NEWCOMERS, mostOfAnOrigin);
        this.service = service;
        // Now, because the first log message may come after strangers have used up all file descriptors.
        LOGGER.prepare();
        this.prepared = CompletableFuture.runAsync(AcceptedConnections::prepareWaiting, Thread::startVirtualThread);
    }

    /// Waits for a socket, so that the JDK opens the files that virtual threads need for it. A class that finds no file
    /// descriptor left when it is initialized fails forever.
    private static void prepareWaiting() {
        try (DatagramChannel silent = SystemSockets.openDatagramSocket()) {
            silent.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            silent.socket().setSoTimeout(1);
            silent.socket().receive(new DatagramPacket(new byte[1], 1));
        } catch (IOException | RuntimeException | Error e) {
            LOGGER.log(Level.TRACE, "the usual end: nothing has arrived", e);
        }
    }

    /// Starts serving a connection. Does not block, but the first call may wait for what virtual threads need.
    public void welcome(TcpConnector connection) {
        boolean begun = false;
        try {
            prepared.join();
            TcpConnector displaced = newcomers.add(connection, connection.remoteAddress());
            if (displaced != null) {
                displaced.displace();
            }
            enter(connection);
            Thread.ofVirtual().name(threadName + connection.peer()).start(() -> serve(connection));
            begun = true;
        } finally {
            if (!begun) {
                leave(connection);
                connection.close();
            }
        }
    }

    /// A connection is authenticated, or has sent HELLO: it can no longer be displaced. Idempotent.
    public void known(TcpConnector connection) {
        var _ = newcomers.remove(connection);
    }

    private void serve(TcpConnector connection) {
        Runnable rest;
        try {
            rest = service.serve(connection);
        } catch (RuntimeException | Error e) {
            connection.close();
            LOGGER.log(Level.ERROR, "serving " + connection.peer() + " failed", e);
            return;
        } finally {
            leave(connection);
        }
        rest.run();
    }

    private void enter(TcpConnector connection) {
        lock.lock();
        try {
            served.add(connection);
        } finally {
            lock.unlock();
        }
    }

    private void leave(TcpConnector connection) {
        var _ = newcomers.remove(connection);
        lock.lock();
        try {
            served.remove(connection);
            ended.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Closes all connections that are being served, and waits until their service has ended. Call it when no
    /// more are accepted. Any thread, and several at a time.
    public void close() {
        beingServed().forEach(connection -> Closer.step(connection, connection::close));
        lock.lock();
        try {
            while (!served.isEmpty()) {
                ended.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    private List<TcpConnector> beingServed() {
        lock.lock();
        try {
            return List.copyOf(served);
        } finally {
            lock.unlock();
        }
    }
}
