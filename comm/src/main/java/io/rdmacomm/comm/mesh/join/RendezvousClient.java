package io.rdmacomm.comm.mesh.join;

import io.rdmacomm.comm.SetupFailedException;
import io.rdmacomm.comm.mesh.launch.MeetingPoint;
import io.rdmacomm.comm.setup.FrameType;
import io.rdmacomm.comm.setup.Opening;
import io.rdmacomm.comm.setup.RetryPause;
import io.rdmacomm.comm.setup.SetupException;
import io.rdmacomm.comm.setup.SetupException.Reason;
import io.rdmacomm.comm.setup.TcpConnector;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.RdmaInterruptedException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// A node's connection to the rendezvous.
final class RendezvousClient implements AutoCloseable {
    /// The time for which a node waits beyond its own timeout, for the answer of the rendezvous that names the
    /// missing ranks.
    private static final Duration GRACE = Duration.ofSeconds(2);
    private static final Duration ATTEMPT = Duration.ofSeconds(5);

    private final MeetingPoint rendezvous;
    private final long deadline;
    private volatile TcpConnector connection;
    private volatile boolean closed;

    private RendezvousClient(MeetingPoint rendezvous, long deadline, TcpConnector connection) {
        this.rendezvous = rendezvous;
        this.deadline = deadline;
        this.connection = connection;
    }

    /// Connects, and retries until the deadline, because the node that listens may start later.
    ///
    /// @param deadline a [System#nanoTime()]
    static RendezvousClient reach(MeetingPoint rendezvous, long deadline) {
        return new RendezvousClient(rendezvous, deadline, connect(rendezvous, deadline));
    }

    private static TcpConnector connect(MeetingPoint rendezvous, long deadline) {
        while (true) {
            SetupException first = null;
            for (String host : rendezvous.hosts()) {
                try {
                    Duration left = left(deadline);
                    Duration attempt = left.compareTo(ATTEMPT) < 0 ? left : ATTEMPT;
                    return TcpConnector.connect(host, rendezvous.port(), attempt);
                } catch (SetupException e) {
                    first = first == null || e.reason() == Reason.INTERRUPTED ? e : first;
                }
            }
            if (first != null && (!isTemporary(first, rendezvous) || !RetryPause.before(deadline))) {
                throw unreached(rendezvous, first);
            }
        }
    }

    private static boolean isTemporary(SetupException e, MeetingPoint rendezvous) {
        return switch (e.reason()) {
            // The node that listens has opened the port before.
            case REFUSED -> !rendezvous.isListener();
            case DEADLINE_PASSED -> true;
            case HOST_UNKNOWN -> rendezvous.mayAppearLater();
            default -> false;
        };
    }

    private static RdmaException unreached(MeetingPoint rendezvous, SetupException e) {
        String words = rendezvous.isListener() && e.reason() == Reason.REFUSED
                ? "this node listens for the others, but is not on host " + rendezvous.host()
                        + "; give the address of this host as rendezvous"
                : e.getMessage();
        return failure("rendezvous of " + rendezvous, words, e);
    }

    /// The public exception for a failed step.
    static RdmaException failure(String what, @Nullable String words, SetupException e) {
        String message = what + ": " + words;
        return switch (e.reason()) {
            case DEADLINE_PASSED -> new DeadlineException(message, e);
            case INTERRUPTED -> new RdmaInterruptedException(message, e);
            case PEER_CLOSED, CLOSED -> new RdmaException(message, e);
            default ->
                new SetupFailedException(
                        SetupFailedException.Reason.valueOf(e.reason().name()), message, e);
        };
    }

    /// The address at which the rendezvous was found.
    InetAddress address() {
        return connection.remoteAddress();
    }

    /// Does the TLS handshake, if any, greets, proves that it has the secret, if any, registers, and waits until
    /// all others have registered. Connects again if the rendezvous is busy with strangers.
    NodeTable register(NodeRegistration own, Opening opening) {
        while (true) {
            try {
                var _ = opening.asClient(connection, left(deadline).plus(GRACE));
                connection.send(FrameType.REGISTER, own.encode());
                return NodeTable.decode(await(FrameType.TABLE), own.size(), opening.greeting());
            } catch (IllegalArgumentException e) {
                throw new SetupFailedException(
                        SetupFailedException.Reason.PROTOCOL_VIOLATED,
                        "the rendezvous at " + connection.peer() + ": " + e.getMessage(),
                        e);
            } catch (SetupException e) {
                if (e.reason() != Reason.BUSY || closed || !RetryPause.before(deadline)) {
                    throw incomplete(e);
                }
            }
            connection.close();
            connection = connect(rendezvous, deadline);
            if (closed) {
                connection.close();
            }
        }
    }

    /// Reports that this node is connected with all others.
    void ready() {
        try {
            connection.send(FrameType.READY, ByteBuffer.allocate(0));
        } catch (SetupException e) {
            // The thread in awaitAll reports why.
        }
    }

    /// Waits until all nodes, this one included, are connected with all others.
    ///
    /// @throws RdmaException if one of them has given up or died, or time is up
    void awaitAll() {
        try {
            var _ = await(FrameType.READY);
        } catch (SetupException e) {
            throw incomplete(e);
        }
    }

    /// The rendezvous rejects this node when the time is up, and names the missing ranks.
    private RdmaException incomplete(SetupException e) {
        String words = "the mesh is not complete: " + e.getMessage();
        boolean late = e.reason() == Reason.REFUSED && System.nanoTime() - deadline >= 0;
        return late ? new DeadlineException(words, e) : failure("the mesh is not complete", e.getMessage(), e);
    }

    private ByteBuffer await(FrameType type) {
        return connection.receive(type, left(deadline).plus(GRACE));
    }

    private static Duration left(long deadline) {
        return Duration.ofNanos(Math.max(1_000_000, deadline - System.nanoTime()));
    }

    @Override
    public void close() {
        closed = true;
        connection.close();
    }
}
