package io.rdmacomm.comm.exchange;

import io.rdmacomm.comm.setup.AcceptLoop;
import io.rdmacomm.comm.setup.AcceptedConnections;
import io.rdmacomm.comm.setup.HandshakePreamble;
import io.rdmacomm.comm.setup.SetupException;
import io.rdmacomm.comm.setup.TcpConnector;
import io.rdmacomm.comm.setup.TcpListener;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.service.SafeLogger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/// A port for exchanges. A peer that has not proved itself costs one connection and one virtual thread. If there are
/// too many, the oldest is closed. Thread-safe.
public final class ExchangeServer implements AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.ofPackage(ExchangeServer.class);

    /// The server's part of the conversations.
    @FunctionalInterface
    public interface Handler {
        /// Converses with one client, whose first message has arrived. Runs on a virtual thread of its own and
        /// may block; the exchange is closed when it returns. An [RdmaException] ends only this conversation
        /// and is logged at DEBUG, anything else at ERROR.
        void converse(Exchange exchange);

        /// The handshake with a peer has failed: it does not have the secret, speaks another protocol or version,
        /// was silent, had to make room for others, or went away. Runs on the virtual thread of that peer, for
        /// which [ExchangeServer#close] waits, so it must not block. Does nothing by default.
        ///
        /// @param peer its address and port
        /// @param why the reason
        default void refused(String peer, RdmaException why) {}
    }

    private final TcpListener listener;
    private final ExchangeOptions options;
    private final Handler handler;
    private final AcceptedConnections connections;
    private final AcceptLoop<TcpConnector> acceptor;
    private final Semaphore conversations;
    private final Set<Thread> conversing = ConcurrentHashMap.newKeySet();

    private ExchangeServer(TcpListener listener, ExchangeOptions options, Handler handler) {
        this.listener = listener;
        this.options = options;
        this.handler = handler;
        this.conversations = new Semaphore(options.maxConversations());
        this.connections = new AcceptedConnections("rdmacomm-exchange-", options.maxUnproved(), this::serve);
        this.acceptor = new AcceptLoop<>("rdmacomm-exchange-accept", listener::accept, connections::welcome, () -> {});
    }

    /// Listens, and serves each client in `handler`.
    ///
    /// @param host the address to listen on; empty for this host's loopback address, `*` for all
    /// @param port the port; 0 for any free one
    /// @throws io.rdmacomm.comm.SetupFailedException PORT_TAKEN; HOST_UNKNOWN; OTHER if `host` is not an
    ///         address of this host
    public static ExchangeServer listen(String host, int port, ExchangeOptions options, Handler handler) {
        TcpListener opened;
        try {
            opened = TcpListener.listen(host, port);
        } catch (SetupException e) {
            throw ExchangeFailures.of(e);
        }
        ExchangeServer server = new ExchangeServer(opened, options, handler);
        server.acceptor.start();
        return server;
    }

    /// The address it listens on; the wildcard address for all.
    public InetAddress address() {
        return listener.address();
    }

    /// The port it listens on.
    public int port() {
        return listener.port();
    }

    private Runnable serve(TcpConnector connection) {
        conversing.add(Thread.currentThread());
        try {
            HandshakePreamble.AcceptedClient accepted =
                    options.preamble().asServer(connection, options.step(), () -> connections.known(connection));
            if (!conversations.tryAcquire()) {
                throw new SetupException(
                        SetupException.Reason.BUSY,
                        "the server has " + options.maxConversations() + " conversations; try again later");
            }
            try {
                handler.converse(new Exchange(connection, accepted.agreed(), options.step(), accepted.next()));
            } finally {
                conversations.release();
            }
        } catch (SetupException e) {
            LOGGER.log(Level.DEBUG, () -> options + ": " + connection.peer() + " is refused: " + e.getMessage());
            connection.refuse(e);
            handler.refused(connection.peer(), ExchangeFailures.of(e));
        } catch (RdmaException e) {
            LOGGER.log(Level.DEBUG, () -> options + ": " + connection.peer() + ": " + e.getMessage());
        } finally {
            conversing.remove(Thread.currentThread());
            // Closed only now, because a refusal is sent over it.
            connection.close();
        }
        return () -> {};
    }

    /// Stops listening, closes all exchanges, and waits until their handlers have returned. Idempotent.
    ///
    /// @throws IllegalStateException in a handler, for which it would wait
    @Override
    public void close() {
        if (conversing.contains(Thread.currentThread())) {
            throw new IllegalStateException("close() of the server of " + options
                    + " in a handler would wait for the handler; call it in another thread");
        }
        listener.close();
        acceptor.join();
        connections.close();
    }
}
