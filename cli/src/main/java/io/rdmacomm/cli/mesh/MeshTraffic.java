package io.rdmacomm.cli.mesh;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.mesh.Mesh;
import io.rdmacomm.mesh.Node;
import io.rdmacomm.mesh.Rendezvous;
import io.rdmacomm.verbs.AccessFlag;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import org.HdrHistogram.Histogram;

/// All-to-all traffic, on one node. In an iteration every node writes some blocks to each other node several times;
/// after a barrier every node checks what the others have written to it.
final class MeshTraffic {
    private static final int SPINS = 1000;
    private static final long PAUSE_NANOS = 20_000;
    private static final String STOP = "stop";
    /// The rights to memory that all nodes access with one key: they trust each other, and a registration per node
    /// would lock the memory as many times.
    static final Set<AccessFlag> FOR_ALL = EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);

    private final Mesh mesh;
    private final MeshSettings settings;
    private final Duration timeout;
    private final LongConsumer progress;
    private final List<PeerTraffic> peers = new ArrayList<>();
    private final RdmaBuffer stop;
    private final long start = System.nanoTime();
    private long counted;
    private long nanos;

    /// Announces the memory of this node and waits for that of the others.
    ///
    /// @param timeout how long to wait for the others at each step
    /// @param progress receives the number of each iteration
    /// @throws CommandFailure if another node has other settings
    MeshTraffic(Mesh mesh, MeshSettings settings, Duration timeout, LongConsumer progress) {
        this.mesh = mesh;
        this.settings = settings;
        this.timeout = timeout;
        this.progress = progress;
        ServerSession session = mesh.session();
        long region = 2L * settings.depth() * settings.blockBytes();
        RdmaBuffer inbox = session.allocate(settings.inboxName(), region, mesh.size(), FOR_ALL);
        RdmaBuffer outgoing = session.allocate("outgoing", settings.blockBytes(), mesh.size() * settings.depth());
        this.stop = session.allocate(STOP, Long.BYTES, 2, FOR_ALL);
        for (Node peer : mesh.peers()) {
            peer.endPoint().announce(inbox);
            peer.endPoint().announce(stop);
        }
        barrier();
        for (Node peer : mesh.peers()) {
            RemoteBuffer remote = peer.endPoint().peerBuffer(settings.inboxName());
            if (remote == null) {
                throw new CommandFailure("rank " + peer.rank()
                        + " was started with another --depth, --passes or --block: all nodes need the same");
            }
            peers.add(new PeerTraffic(peer, mesh.rank(), settings, outgoing, inbox, remote));
        }
    }

    /// Runs until rank 0 ends it, and brings the results to rank 0.
    ///
    /// @return on rank 0, the report of all nodes; on the others, of their own results
    MeshReport run(Rendezvous rendezvous) {
        List<NodeResult> results = ResultGathering.gather(mesh, measure(), timeout);
        barrier();
        return MeshReport.of(rendezvous, settings, mesh, results);
    }

    private NodeResult measure() {
        long iteration = 0;
        boolean last = false;
        while (!last) {
            transfer(iteration);
            if (mesh.rank() == 0 && isLast(iteration)) {
                announceLast(iteration);
            }
            barrier();
            check(iteration);
            last = stop.segment().get(ValueLayout.JAVA_LONG, 0) == iteration + 1;
            progress.accept(++iteration);
        }
        Histogram latencies = Latencies.newHistogram();
        peers.forEach(peer -> latencies.add(peer.latencies()));
        List<PeerResult> results = peers.stream().map(PeerTraffic::result).toList();
        return new NodeResult(mesh.rank(), counted, nanos, results, latencies);
    }

    private void transfer(long iteration) {
        boolean counts = settings.iterations() > 0 || System.nanoTime() - start > settings.warmUpNanos();
        for (PeerTraffic peer : peers) {
            peer.prepare(iteration, counts);
        }
        long begin = System.nanoTime();
        awaitCompletions(iteration);
        if (counts) {
            counted++;
            nanos += System.nanoTime() - begin;
            peers.forEach(peer -> peer.count(begin));
        }
    }

    private void awaitCompletions(long iteration) {
        long deadline = System.nanoTime() + timeout.toNanos();
        int idle = 0;
        boolean posted = false;
        while (!posted || !isComplete()) {
            posted = posted || post(iteration);
            idle = mesh.session().poll() > 0 ? 0 : idle + 1;
            if (idle > SPINS) {
                mesh.checkOpen();
                checkDeadline(deadline, iteration);
                // A completion may wake no thread: in thread mode CALLER, this thread polls for it.
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    /// Writes one block to each node in turn.
    private boolean post(long iteration) {
        boolean all = true;
        for (PeerTraffic peer : peers) {
            all &= peer.post(iteration);
        }
        return all;
    }

    private boolean isComplete() {
        for (PeerTraffic peer : peers) {
            if (!peer.isComplete()) {
                return false;
            }
        }
        return true;
    }

    private void checkDeadline(long deadline, long iteration) {
        if (System.nanoTime() - deadline > 0) {
            List<Integer> late = peers.stream()
                    .filter(peer -> !peer.isComplete())
                    .map(peer -> peer.peer().rank())
                    .toList();
            throw new CommandFailure("writes of iteration " + iteration + " to ranks " + late
                    + " have not completed within " + timeout.toSeconds() + " s");
        }
    }

    /// Counts at least one iteration, however long it takes.
    private boolean isLast(long iteration) {
        return settings.iterations() > 0
                ? iteration + 1 >= settings.iterations()
                : counted > 0 && System.nanoTime() - start >= settings.warmUpNanos() + settings.durationNanos();
    }

    /// Announces to all nodes that this iteration is the last one; they see it after the barrier.
    private void announceLast(long iteration) {
        stop.block(1).buffer().segment().set(ValueLayout.JAVA_LONG, Long.BYTES, iteration + 1);
        for (Node peer : mesh.peers()) {
            RemoteBuffer remote = peer.endPoint().peerBuffer(STOP, timeout);
            peer.channel().blocking(timeout).write(stop.block(1), remote, 0);
        }
        stop.segment().set(ValueLayout.JAVA_LONG, 0, iteration + 1);
    }

    /// Waits until all nodes reach this barrier, and everything that they have written has arrived.
    private void barrier() {
        for (Node peer : mesh.peers()) {
            peer.endPoint().barrier(timeout);
        }
    }

    private void check(long iteration) {
        for (PeerTraffic peer : peers) {
            String wrong = peer.check(iteration);
            if (!wrong.isEmpty()) {
                throw new CommandFailure(wrong);
            }
        }
    }
}
