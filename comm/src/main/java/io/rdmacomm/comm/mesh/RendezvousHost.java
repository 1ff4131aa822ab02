package io.rdmacomm.comm.mesh;

import io.rdmacomm.comm.setup.FrameType;
import io.rdmacomm.comm.setup.SetUpException;
import io.rdmacomm.comm.setup.SetUpException.Reason;
import io.rdmacomm.comm.setup.TcpConnector;
import io.rdmacomm.comm.setup.TcpListener;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// The port where the nodes of a mesh meet.
///
/// ```
/// node                            rendezvous
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
/// REFUSE with a reason may come at any time. A stranger costs one thread that ends after [#STEP], and there is
/// a limit of those.
final class RendezvousHost implements AutoCloseable {
    private static final Logger LOGGER = System.getLogger(RendezvousHost.class.getPackageName());
    private static final Duration STEP = Duration.ofSeconds(5);
    private static final int MOST_UNKNOWN = 256;
    private static final long PAUSE_NANOS = 10_000_000;

    private final TcpListener listener;
    private final Registration own;
    private final Attendance attendance;
    private final Set<TcpConnector> unknown = ConcurrentHashMap.newKeySet();
    private final Set<TcpConnector> connections = ConcurrentHashMap.newKeySet();
    private volatile boolean open = true;

    private RendezvousHost(TcpListener listener, Registration own) {
        this.listener = listener;
        this.own = own;
        this.attendance = new Attendance(own.size());
    }

    /// Listens.
    ///
    /// @param host the address to listen on; empty for all
    /// @param own the registration of this node, to which the others have to fit
    /// @throws SetUpException if that is not possible
    static RendezvousHost listen(String host, int port, Registration own) {
        RendezvousHost opened = new RendezvousHost(TcpListener.listen(host, port), own);
        Thread.ofVirtual().name("rdmacomm-rendezvous").start(opened::acceptAll);
        return opened;
    }

    private void acceptAll() {
        while (open) {
            try {
                TcpConnector connection = listener.accept();
                if (connection == null) {
                    return;
                }
                welcome(connection);
            } catch (IOException e) {
                LOGGER.log(Level.WARNING, "a node could not be accepted: " + e.getMessage());
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    private void welcome(TcpConnector connection) {
        if (unknown.size() >= MOST_UNKNOWN) {
            connection.close();
            return;
        }
        unknown.add(connection);
        connections.add(connection);
        if (!open) {
            connection.close();
        }
        Thread.ofVirtual().name("rdmacomm-register-" + connection.peer()).start(() -> serve(connection));
    }

    private void serve(TcpConnector connection) {
        try (connection) {
            Registration node = Registration.decode(connection.receive(FrameType.REGISTER, STEP));
            String refusal = node.difference(own);
            if (refusal.isEmpty()) {
                refusal = attendance.add(
                        node.rank(), connection, new NodeTable.Entry(address(connection), node.sessionPort()));
            }
            unknown.remove(connection);
            if (refusal.isEmpty()) {
                attend(node, connection);
            } else {
                refuse(connection, refusal);
            }
        } catch (SetUpException | IllegalArgumentException e) {
            refuse(connection, String.valueOf(e.getMessage()));
        } finally {
            unknown.remove(connection);
            connections.remove(connection);
        }
    }

    /// The address of a node for the others; null if it is on this host.
    private static @Nullable InetAddress address(TcpConnector connection) {
        InetAddress from = connection.remoteAddress();
        return from.isLoopbackAddress() || from.equals(connection.localAddress()) ? null : from;
    }

    private void refuse(TcpConnector connection, String why) {
        String words = connection.peer() + ": " + why;
        LOGGER.log(Level.DEBUG, () -> "the rendezvous turned away " + words);
        attendance.refused(words);
        connection.refuse(why);
    }

    /// Waits until a node is ready, and then until it goes away; or until it has waited too long.
    private void attend(Registration node, TcpConnector connection) {
        int rank = node.rank();
        try {
            connection.receive(FrameType.READY, node.patience());
            attendance.ready(rank);
            // Nothing more comes: this is the end of the node's connection.
            var _ = connection.awaitEnd();
            attendance.remove(rank, "went away");
        } catch (SetUpException e) {
            if (e.reason() == Reason.DEADLINE_PASSED) {
                attendance.dismiss(rank, node.patience());
            } else {
                attendance.remove(rank, "went away");
            }
        }
    }

    /// Listens no more, and ends all connections. Nodes that still wait are told.
    @Override
    public void close() {
        open = false;
        listener.close();
        attendance.giveUp();
        connections.forEach(TcpConnector::close);
    }
}
