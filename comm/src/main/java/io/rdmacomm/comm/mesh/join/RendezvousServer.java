package io.rdmacomm.comm.mesh.join;

import io.rdmacomm.comm.mesh.launch.MeetingPoint;
import io.rdmacomm.comm.setup.AcceptLoop;
import io.rdmacomm.comm.setup.FrameType;
import io.rdmacomm.comm.setup.Opening;
import io.rdmacomm.comm.setup.Reception;
import io.rdmacomm.comm.setup.SetupException;
import io.rdmacomm.comm.setup.SetupException.Reason;
import io.rdmacomm.comm.setup.TcpConnector;
import io.rdmacomm.comm.setup.TcpListener;
import io.rdmacomm.verbs.service.SafeLogger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// The port where the nodes of a mesh meet.
///
/// ```
/// node                            rendezvous
///   | GREETING versions, features   |
///   |------------------------------>|
///   |   GREETING versions, features |
///   |<------------------------------|
///   | REGISTER size, rank, port     |
///   |------------------------------>|   keeps it; waits for the others
///   |                         TABLE |   when all have registered
///   |<------------------------------|
///   | READY                         |   when connected with all others
///   |------------------------------>|
///   |                         READY |   when all are
///   |<------------------------------|
/// ```
///
/// With TLS, its handshake comes first; with a secret, both sides prove that they have it before REGISTER
/// ([Opening]). REFUSE with a reason may come at any time. TABLE has the version and the features that all nodes
/// have in common; a node that would leave no version is rejected with OTHER_VERSION. A stranger costs one thread,
/// which ends after one step of the handshake; if there are too many, the oldest is displaced.
final class RendezvousServer implements AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.ofPackage(RendezvousServer.class);
    /// All nodes may be on one host, and come at the same time.
    private static final int MAX_NEWCOMERS_OF_AN_ORIGIN = MeetingPoint.MAX_SIZE;

    private final TcpListener listener;
    private final NodeRegistration own;
    private final Opening opening;
    private final Duration step;
    private final RegisteredNodes nodes;
    private final AcceptLoop<TcpConnector> acceptor;
    private final Reception reception;

    private RendezvousServer(TcpListener listener, NodeRegistration own, Opening opening, Duration step) {
        this.listener = listener;
        this.own = own;
        this.opening = opening;
        this.step = step;
        this.nodes = new RegisteredNodes(own.size());
        this.reception = new Reception("rdmacomm-register-", MAX_NEWCOMERS_OF_AN_ORIGIN, this::serve);
        this.acceptor = new AcceptLoop<>("rdmacomm-rendezvous", listener::accept, reception::welcome, nodes::giveUp);
    }

    /// Listens.
    ///
    /// @param host the address to listen on; see [TcpListener#listen]
    /// @param own the registration of this node, which the others must match
    /// @param opening the handshake with the others
    /// @param step how long the others may take for each step, until they have registered
    /// @throws SetupException if that is not possible
    static RendezvousServer listen(String host, int port, NodeRegistration own, Opening opening, Duration step) {
        RendezvousServer opened = new RendezvousServer(TcpListener.listen(host, port), own, opening, step);
        opened.acceptor.start();
        return opened;
    }

    private Runnable serve(TcpConnector connection) {
        try {
            Opening.Entrance entrance = opening.asServer(connection, step, () -> reception.known(connection));
            NodeRegistration node = NodeRegistration.decode(entrance.next());
            String refusal = node.difference(own);
            if (refusal.isEmpty()) {
                refusal = nodes.add(
                        node.rank(),
                        new NodeConnection(connection),
                        entrance.greeting(),
                        new NodeTable.Entry(address(connection), node.sessionPort()));
            }
            if (refusal.isEmpty()) {
                await(node, connection);
            } else {
                refuse(connection, refusal);
            }
        } catch (SetupException e) {
            turnedAway(connection, String.valueOf(e.getMessage()));
            connection.refuse(e);
        } catch (IllegalArgumentException e) {
            refuse(connection, String.valueOf(e.getMessage()));
        } finally {
            // Closed only now, because a refusal is sent over it.
            connection.close();
        }
        return () -> {};
    }

    /// The address of a node for the others; null if it is on this host.
    private static @Nullable InetAddress address(TcpConnector connection) {
        InetAddress from = connection.remoteAddress();
        return from.isLoopbackAddress() || from.equals(connection.localAddress()) ? null : from;
    }

    private void refuse(TcpConnector connection, String why) {
        turnedAway(connection, why);
        connection.refuse(why);
    }

    private void turnedAway(TcpConnector connection, String why) {
        String words = connection.peer() + ": " + why;
        LOGGER.log(Level.DEBUG, () -> "the rendezvous turned away " + words);
        nodes.refused(words);
    }

    /// Waits until a node is ready and then until it ends, or until its time is up.
    private void await(NodeRegistration node, TcpConnector connection) {
        int rank = node.rank();
        try {
            connection.receive(FrameType.READY, node.patience());
            nodes.ready(rank);
            // Nothing more arrives: this is the end of the node's connection.
            var _ = connection.awaitEnd();
            nodes.remove(rank, "went away");
        } catch (SetupException e) {
            if (e.reason() == Reason.DEADLINE_PASSED) {
                nodes.dismiss(rank, node.patience());
            } else {
                nodes.remove(rank, "went away");
            }
        }
    }

    /// Stops listening and ends all connections. Nodes that still wait are refused.
    @Override
    public void close() {
        listener.close();
        acceptor.join();
        nodes.giveUp();
        reception.close();
    }
}
