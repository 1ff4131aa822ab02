package io.rdmacomm.mesh;

import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.mesh.collective.CollectiveOptions;
import io.rdmacomm.mesh.collective.Collectives;
import io.rdmacomm.mesh.collective.MeshBuffer;
import io.rdmacomm.mesh.join.Joining;
import io.rdmacomm.mesh.launch.MeetingPoint;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Nodes that are all connected with each other: each pair has one [io.rdmacomm.comm.EndPoint]. Each node uses one
/// device, and buffers that serve all its connections. Thread-safe.
///
/// ```java
/// try (Mesh mesh = Mesh.join(Rendezvous.ofEnvironment(), SessionOptions.defaults())) {
///     RdmaBuffer inbox = mesh.session().allocate("inbox", 4096, mesh.size());
///     for (Node peer : mesh.peers()) {
///         peer.endPoint().announce(inbox, Set.of(AccessFlag.REMOTE_WRITE));
///     }
///     ...
/// }
/// ```
///
/// When a node dies, the mesh ends on all others: every connection fails, pending calls end, and [#failure()]
/// says which node it was. A node that closes its mesh only leaves: its connections end in an orderly way,
/// and those between the others stay.
public final class Mesh implements AutoCloseable {
    /// How long [#join(Rendezvous, SessionOptions)] waits for the other nodes.
    public static final Duration JOIN_TIMEOUT = Duration.ofMinutes(2);

    private final int rank;
    private final ServerSession session;
    private final Nodes nodes;
    private final ReentrantLock collectivesLock = new ReentrantLock();
    private @Nullable Collectives collectives;

    private Mesh(int rank, ServerSession session, Nodes nodes) {
        this.rank = rank;
        this.session = session;
        this.nodes = nodes;
    }

    /// Joins a mesh within [#JOIN_TIMEOUT]; see [#join(Rendezvous, SessionOptions, Duration)].
    public static Mesh join(Rendezvous rendezvous, SessionOptions options) {
        return join(rendezvous, options, JOIN_TIMEOUT);
    }

    /// Joins a mesh. Blocks until all nodes are connected with each other.
    ///
    /// @param options of the session. All nodes need the same number of channels. Its port is not used: the
    ///        session listens on a free one. Its listener is not called for new endpoints
    /// @param timeout how long to wait for the other nodes, 1 ms to 24 h
    /// @throws io.rdmacomm.verbs.DeadlineException if not all came in time; the message lists the missing ranks
    /// @throws io.rdmacomm.comm.SetupFailedException if the rendezvous cannot be reached, or its port is
    ///         taken on this host; if it turned this node away, because its rank is taken, or size, channels
    ///         or job differ, or because another node has given up; or if this node and the rendezvous do not
    ///         have the same [SessionOptions#secret()], with which all nodes prove that they belong to the
    ///         mesh, only one of them has [SessionOptions#tls()], or one rejects the certificate of the other.
    ///         Its reason says which
    /// @throws io.rdmacomm.verbs.RdmaException if a node cannot be reached, or one has died meanwhile
    /// @throws io.rdmacomm.verbs.RdmaInterruptedException if the thread was interrupted
    /// @throws io.rdmacomm.verbs.VerbException if there is no such device or it cannot be opened
    /// @throws IllegalArgumentException if the timeout is out of range, or there are more than 255 channels
    public static Mesh join(Rendezvous rendezvous, SessionOptions options, Duration timeout) {
        if (timeout.compareTo(Duration.ofMillis(1)) < 0 || timeout.compareTo(Duration.ofDays(1)) > 0) {
            throw new IllegalArgumentException("timeout is " + timeout + ", must be 1 ms to 24 h");
        }
        MeetingPoint point = rendezvous.point();
        Nodes nodes = new Nodes(point.rank(), point.size());
        ServerSession session = new Joining(point, options, timeout, nodes).join();
        return new Mesh(point.rank(), session, nodes);
    }

    /// The number of this node, from 0.
    public int rank() {
        return rank;
    }

    /// The number of nodes, this one included.
    public int size() {
        return nodes.size();
    }

    /// Another node.
    ///
    /// @throws IllegalArgumentException if it is this one
    /// @throws IndexOutOfBoundsException if there is no such rank
    public Node node(int ofRank) {
        Node node = nodes.node(ofRank);
        if (node == null) {
            throw new IllegalArgumentException("rank " + ofRank + " is this node, which has no connection to itself");
        }
        return node;
    }

    /// The other nodes, by rank.
    public List<Node> peers() {
        return nodes.peers();
    }

    /// The session of this node, to allocate buffers and to poll. It is closed with the mesh.
    public ServerSession session() {
        return session;
    }

    /// The collective operations of all nodes, with the default options unless [#collectives(CollectiveOptions)]
    /// was called before.
    public Collectives collectives() {
        return collectivesOr(CollectiveOptions.defaults());
    }

    /// The collective operations of all nodes, with options that all nodes must share. To be called before any
    /// collective, barrier or allocation.
    ///
    /// @throws IllegalStateException if there are collectives with other options already
    /// @throws IllegalArgumentException if the channels do not allow messages of that length, or have too few
    ///         receives or too short a send window; the message says what to raise
    /// @throws io.rdmacomm.verbs.VerbException if there is no memory for the slots
    public Collectives collectives(CollectiveOptions options) {
        Collectives made = collectivesOr(options);
        if (!made.options().equals(options)) {
            throw new IllegalStateException(this + " has collectives with " + made.options() + " already");
        }
        return made;
    }

    /// @param options for the first call
    private Collectives collectivesOr(CollectiveOptions options) {
        collectivesLock.lock();
        try {
            Collectives made = collectives;
            if (made == null) {
                checkOpen();
                made = Collectives.of(new MeshGroup(this, nodes), options);
                collectives = made;
            }
            return made;
        } finally {
            collectivesLock.unlock();
        }
    }

    /// Waits until all nodes have called it; see [Collectives#barrier]. It does not wait for one-sided
    /// operations of the program: those that have not ended yet may arrive later.
    ///
    /// @param timeout how long to wait
    public void barrier(Duration timeout) {
        collectives().barrier(timeout);
    }

    /// Allocates memory of the same length on all nodes, which all of them can write and read. A collective: all
    /// nodes call it, with the same name and length. Blocks until all have allocated.
    ///
    /// @param name as of [io.rdmacomm.comm.Session#allocate(String, long, int)], the same on all nodes
    /// @param bytes the length on each node, at least 1
    /// @param timeout how long to wait
    /// @throws IllegalArgumentException if an open buffer of this node has that name, or the length is below 1
    /// @throws io.rdmacomm.verbs.VerbException if there is no room on this node; the message says what to raise
    /// @throws io.rdmacomm.verbs.RdmaException if there is no room on another node, or for a reason of
    ///         [Collectives]
    public MeshBuffer allocate(String name, long bytes, Duration timeout) {
        return collectives().allocate(name, bytes, timeout);
    }

    /// Returns if the mesh is open and no node has failed.
    ///
    /// @throws NodeFailedException if a node has failed
    /// @throws ClosedException if it was closed
    public void checkOpen() {
        NodeFailedException failed = nodes.failure();
        if (failed != null) {
            throw failed.again();
        }
        if (nodes.isClosed()) {
            throw new ClosedException("the mesh is closed", null);
        }
    }

    /// The failure that has ended the mesh; null if no node has failed. Nodes that have left do not count.
    public @Nullable NodeFailedException failure() {
        return nodes.failure();
    }

    /// Ends the mesh on all nodes, because the program on this one has failed: their failure names this rank and
    /// the reason. Does nothing if the mesh has failed or is closed. Returns at once; [#close()] waits until the
    /// others were notified.
    ///
    /// @param reason one line
    public void abort(String reason) {
        nodes.fail(new NodeFailedException(rank, "rank " + rank + " has given up: " + reason, null));
    }

    /// Leaves the mesh: closes all connections in an orderly way, each within the close deadline, and frees
    /// everything. After a failure, the others are notified first. Idempotent. Blocks until it is done.
    ///
    /// @throws IllegalStateException in a handler of the session, for which it would wait; the mesh stays
    ///         open
    @Override
    public void close() {
        if (session.isInHandler()) {
            throw new IllegalStateException(
                    "close() of " + this + " in a handler would wait for the handler; call it in another thread");
        }
        nodes.close();
        session.close();
    }

    @Override
    public String toString() {
        return "rank " + rank + " of a mesh of " + size();
    }
}
