package io.rdmacomm.mesh.join;

import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.PeerLimits;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.Secret;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionListener;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.SetupFailedException;
import io.rdmacomm.comm.Tls;
import io.rdmacomm.comm.exchange.ExchangeOptions;
import io.rdmacomm.mesh.launch.MeetingPoint;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.RdmaInterruptedException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;

/// The steps of a node that joins a mesh: register at the rendezvous, connect to the nodes of lower rank, accept
/// those of higher rank, and wait until all nodes have done so.
public final class Joining {
    private static final String BUFFER = "introductions of the mesh";
    private static final int MAX_STRANGERS = 64;
    private static final Duration LONGEST_STEP = Duration.ofSeconds(30);
    private static final String PROTOCOL = "io.rdmacomm.mesh";
    private static final int LOWEST_VERSION = 1;
    private static final int HIGHEST_VERSION = 1;
    private static final String ALL_ADDRESSES = "*";

    private final MeetingPoint rendezvous;
    private final SessionOptions options;
    private final long deadline;
    private final Duration step;
    private final NodeList nodes;
    private final ConnectionOrder order;
    private final CompletableFuture<Place> place = new CompletableFuture<>();
    private final AtomicInteger introducing = new AtomicInteger();

    /// The table of nodes, complete when all have registered.
    ///
    /// @param host the address at which the rendezvous was found
    /// @param messages a block for each rank
    private record Place(NodeTable table, InetAddress host, RdmaBuffer messages) {
        String host(int rank) {
            InetAddress address = table.nodes().get(rank).address();
            return (address == null ? host : address).getHostAddress();
        }
    }

    /// @param nodes receives the connected nodes
    public Joining(MeetingPoint rendezvous, SessionOptions options, Duration timeout, NodeList nodes) {
        this.rendezvous = rendezvous;
        this.options = options;
        this.deadline = System.nanoTime() + timeout.toNanos();
        this.step = step(options.deadlines().handshake(), timeout);
        this.nodes = nodes;
        this.order = new ConnectionOrder(rendezvous.rank(), rendezvous.size());
    }

    /// The time that a node may take for one step. Nodes are slow when dozens of them start on one processor.
    private static Duration step(Duration usual, Duration timeout) {
        Duration quarter = timeout.dividedBy(4);
        Duration patient = quarter.compareTo(LONGEST_STEP) < 0 ? quarter : LONGEST_STEP;
        return patient.compareTo(usual) > 0 ? patient : usual;
    }

    /// Joins. Blocks until all nodes are connected with each other.
    ///
    /// @return the session of this node
    public ServerSession join() {
        return FlightRecorder.isInitialized() ? joinRecorded(new MeshEvent()) : connectAll();
    }

    private ServerSession joinRecorded(MeshEvent event) {
        event.begin();
        try {
            return connectAll();
        } catch (RdmaException e) {
            event.failure = String.valueOf(e.getMessage());
            throw e;
        } finally {
            event.rank = rendezvous.rank();
            event.ranks = rendezvous.size();
            event.rendezvous = rendezvous.toString();
            event.commit();
        }
    }

    private ServerSession connectAll() {
        ServerSession session = ServerSession.listen(sessionOptions());
        boolean joined = false;
        try {
            if (rendezvous.size() > 1) {
                meet(session);
            }
            joined = true;
            return session;
        } catch (ClosedException e) {
            RdmaException why = nodes.joinFailure();
            throw why == null ? e : why;
        } finally {
            if (!joined) {
                nodes.close();
                session.close();
            }
        }
    }

    /// The user's options with one more channel, which the user's configurer does not see.
    private SessionOptions sessionOptions() {
        int channels = options.channels();
        String name = (options.name().isEmpty() ? "" : options.name() + ", ") + "rank " + rendezvous.rank();
        return options.withName(name)
                .withAddress(options.host().isEmpty() ? listeningHost() : options.host(), 0)
                .withChannels(channels + 1)
                .withMaxChannels(channels + 1)
                .withDeadlines(options.deadlines().withHandshake(step))
                .withLimits(limits())
                .withConfigurer((index, proposed) ->
                        index < channels ? options.configurer().configure(index, proposed) : proposed)
                .withListener(new MeshListener());
    }

    /// All other nodes may be on one host, and a stranger is recognized only when its endpoint is set up.
    private PeerLimits limits() {
        PeerLimits given = options.limits();
        int needed = rendezvous.size() + MAX_STRANGERS;
        return given.withEndPoints(Math.max(given.endPoints(), needed))
                .withEndPointsPerAddress(Math.max(given.endPointsPerAddress(), needed));
    }

    private void meet(ServerSession session) {
        try (RendezvousServer _ = rendezvous.isListener() ? listen(session) : null;
                RendezvousClient visit = RendezvousClient.reach(rendezvous, exchangeOptions(), deadline)) {
            NodeTable table = visit.register(registration(session), LOWEST_VERSION);
            place.complete(
                    new Place(table, visit.address(), session.allocate(BUFFER, Introduction.BYTES, rendezvous.size())));
            Thread.ofVirtual().name("rdmacomm-mesh").start(() -> awaitOthers(visit, session));
            order.targets().forEach(rank -> connect(session, rank));
            nodes.awaitConnected(deadline);
            visit.ready();
            nodes.awaitReady(deadline);
        } finally {
            place.cancel(false);
        }
    }

    /// The address to listen on for the others. If they meet on loopback, all are on this host, and it is loopback.
    /// Otherwise it is all addresses, because the others know a node by the address from which it has reached the
    /// rendezvous.
    private String listeningHost() {
        String name = rendezvous.host().isEmpty() ? "localhost" : rendezvous.host();
        boolean loopback = name.equals("localhost") || name.startsWith("127.") || name.equals("::1");
        return loopback && rendezvous.hosts().size() == 1 ? name : ALL_ADDRESSES;
    }

    private RendezvousServer listen(ServerSession session) {
        try {
            return RendezvousServer.listen(
                    listeningHost(), rendezvous.port(), registration(session), exchangeOptions());
        } catch (RdmaException e) {
            throw RendezvousClient.failure("rendezvous of " + rendezvous + ": " + e.getMessage(), e);
        }
    }

    private ExchangeOptions exchangeOptions() {
        ExchangeOptions made = ExchangeOptions.of(PROTOCOL)
                .withVersions(LOWEST_VERSION, HIGHEST_VERSION)
                .withStep(step);
        Secret secret = options.secret();
        made = secret == null ? made : made.withSecret(secret);
        Tls tls = options.tls();
        return tls == null ? made : made.withTls(tls);
    }

    private NodeRegistration registration(ServerSession session) {
        return new NodeRegistration(
                rendezvous.size(),
                rendezvous.rank(),
                session.port(),
                session.options().channels(),
                left(),
                rendezvous.job());
    }

    /// Waits for READY. If REFUSE arrives instead, wakes the joining thread.
    private void awaitOthers(RendezvousClient visit, ServerSession session) {
        try {
            visit.awaitAll();
            nodes.allReady();
        } catch (RdmaException e) {
            nodes.joinFailed(e);
            session.close();
        }
    }

    private void connect(ServerSession session, int rank) {
        Place where = place.join();
        String host = where.host(rank);
        EndPoint endPoint;
        try {
            endPoint = session.connect(host, where.table().nodes().get(rank).port(), left());
        } catch (ClosedException e) {
            throw e;
        } catch (RdmaException e) {
            throw new RdmaException("rank " + rank + " cannot be reached: " + e.getMessage(), e);
        }
        RdmaChannel channel = meshChannel(endPoint);
        Introduction mine = new Introduction(where.table().token(), rendezvous.rank(), rank);
        mine.send(channel, where.messages().block(rank), left());
        if (!Introduction.receive(channel, left()).equals(mine.answer())) {
            throw new SetupFailedException(
                    SetupFailedException.Reason.PROTOCOL_VIOLATED,
                    "at " + host + " another node than rank " + rank + " answers",
                    null);
        }
        nodes.add(rank, host, endPoint);
    }

    /// The last data channel belongs to the mesh.
    private static RdmaChannel meshChannel(EndPoint endPoint) {
        return endPoint.channels().getLast();
    }

    /// Determines which node has connected. Closes the connection of a stranger.
    private void admit(EndPoint endPoint) {
        boolean admitted = false;
        RdmaException cause = null;
        try {
            if (introducing.incrementAndGet() <= MAX_STRANGERS + rendezvous.size()) {
                admitted = introduce(endPoint);
            }
        } catch (RdmaException e) {
            cause = e;
        } finally {
            introducing.decrementAndGet();
            if (!admitted) {
                endPoint.abort(-1, new RdmaException("this is a node of a mesh, and the peer is not", cause));
                endPoint.close();
            }
        }
    }

    private boolean introduce(EndPoint endPoint) {
        RdmaChannel channel = meshChannel(endPoint);
        Introduction theirs = Introduction.receive(channel, step);
        Place where = awaitPlace();
        Introduction mine = new Introduction(where.table().token(), rendezvous.rank(), theirs.from());
        if (!theirs.equals(mine.answer()) || !order.accepts(theirs.from())) {
            return false;
        }
        if (!nodes.add(theirs.from(), where.host(theirs.from()), endPoint)) {
            return false;
        }
        mine.send(channel, where.messages().block(theirs.from()), step);
        return true;
    }

    private Place awaitPlace() {
        try {
            return place.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException | ExecutionException | CancellationException e) {
            throw new DeadlineException("the nodes have not met", e);
        } catch (InterruptedException e) {
            throw new RdmaInterruptedException("interrupted while joining a mesh", e);
        }
    }

    private Duration left() {
        return Duration.ofNanos(Math.max(1_000_000, deadline - System.nanoTime()));
    }

    /// Gives the mesh its connections, and passes the other events on to the user's listener.
    private final class MeshListener implements SessionListener {
        @Override
        public void onEndPoint(EndPoint endPoint) {
            admit(endPoint);
        }

        @Override
        public void onEnd(EndPoint endPoint, @Nullable RdmaException failure) {
            if (nodes.ended(endPoint, failure)) {
                options.listener().onEnd(endPoint, failure);
            }
        }

        @Override
        public void onRefused(String peer, RdmaException failure) {
            options.listener().onRefused(peer, failure);
        }

        @Override
        public void onError(String where, Throwable failure) {
            options.listener().onError(where, failure);
        }
    }
}
