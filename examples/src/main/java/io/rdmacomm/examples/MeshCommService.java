package io.rdmacomm.examples;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.mesh.Mesh;
import io.rdmacomm.mesh.Node;
import io.rdmacomm.mesh.Rendezvous;
import io.rdmacomm.mesh.collective.MeshBuffer;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// Every node writes to every other node at the same time. Each node has a separate region for every other one, so
/// no data overwrites other data, and every byte is checked. `rdmacomm mesh` measures the same in detail.
///
/// ```
/// java -cp rdmacomm.jar io.rdmacomm.examples.MeshCommService [RANK SIZE HOST PORT]
/// mpirun -n 4 env java -cp rdmacomm.jar io.rdmacomm.examples.MeshCommService
/// ```
public final class MeshCommService {
    private static final Duration TIMEOUT = Duration.ofMinutes(2);
    private static final int ROUNDS = 20;
    private static final int BLOCKS = 16;
    private static final int BLOCK_BYTES = 64 << 10;
    private static final int REGION_BYTES = BLOCKS * BLOCK_BYTES;

    private final Mesh mesh;

    /// A region for each rank.
    private final RdmaBuffer outbox;

    /// Two regions for each rank, used in turn: a faster peer may already write the next round while this node
    /// still checks this one.
    private final MeshBuffer inbox;

    private MeshCommService(Mesh mesh) {
        this.mesh = mesh;
        this.outbox = mesh.session().allocate("outbox", REGION_BYTES, mesh.size());
        this.inbox = mesh.allocate("inbox", 2L * mesh.size() * REGION_BYTES, TIMEOUT);
    }

    /// Runs one node, or four.
    public static void main(String[] arguments) {
        MeshNodes.run(arguments, MeshCommService::join);
    }

    private static void join(Rendezvous rendezvous) {
        try (Mesh mesh = Mesh.join(rendezvous, SessionOptions.defaults(), TIMEOUT)) {
            try {
                new MeshCommService(mesh).exchange();
            } catch (RuntimeException e) {
                // Ends all nodes with this reason. Otherwise, they would wait for this one.
                mesh.abort(String.valueOf(e.getMessage()));
                throw e;
            }
        }
    }

    private void exchange() {
        long nanos = 0;
        for (int round = 0; round < ROUNDS; round++) {
            fillOutbox(round);
            long begin = System.nanoTime();
            writeToAll(round);
            nanos += System.nanoTime() - begin;
            awaitArrival();
            checkInbox(round);
        }
        long bytes = (long) ROUNDS * REGION_BYTES * mesh.peers().size();
        System.out.printf(
                "rank %d of %d: wrote %d MiB at %.1f Gbit/s, received and checked as much%n",
                mesh.rank(), mesh.size(), bytes >> 20, 8.0 * bytes / nanos);
    }

    private void fillOutbox(int round) {
        for (Node peer : mesh.peers()) {
            MemorySegment region = outbox.block(peer.rank()).segment();
            for (int i = 0; i < REGION_BYTES / Long.BYTES; i++) {
                region.setAtIndex(JAVA_LONG, i, word(mesh.rank(), peer.rank(), round, i));
            }
        }
    }

    /// Writes one block to each peer in turn, so that all connections are busy at the same time. A write waits
    /// while its channel has no room.
    private void writeToAll(int round) {
        List<CompletableFuture<?>> writes = new ArrayList<>();
        for (int offset = 0; offset < REGION_BYTES; offset += BLOCK_BYTES) {
            for (Node peer : mesh.peers()) {
                BufferSlice from = outbox.block(peer.rank()).slice(offset, BLOCK_BYTES);
                long target = regionOf(mesh.rank(), round) + offset;
                writes.add(peer.channel().async(TIMEOUT).write(from, inbox.remote(peer.rank()), target));
            }
        }
        writes.forEach(CompletableFuture::join);
    }

    /// Returns when everything that the peers have written in this round has arrived. They do not write to
    /// the same regions again before this node has reached the next barrier.
    private void awaitArrival() {
        for (Node peer : mesh.peers()) {
            peer.endPoint().barrier(TIMEOUT);
        }
    }

    private void checkInbox(int round) {
        for (Node peer : mesh.peers()) {
            MemorySegment region = inbox.segment().asSlice(regionOf(peer.rank(), round), REGION_BYTES);
            for (int i = 0; i < REGION_BYTES / Long.BYTES; i++) {
                if (region.getAtIndex(JAVA_LONG, i) != word(peer.rank(), mesh.rank(), round, i)) {
                    throw new IllegalStateException("word " + i + " of rank " + peer.rank() + " is wrong in round "
                            + round + " at rank " + mesh.rank());
                }
            }
        }
    }

    /// Where a rank writes in the inboxes of the others.
    private long regionOf(int sender, int round) {
        return ((round % 2L) * mesh.size() + sender) * REGION_BYTES;
    }

    /// A number that is different in every place of every region in every round.
    private static long word(int sender, int receiver, int round, int index) {
        return (((long) sender * Rendezvous.MAX_SIZE + receiver) * ROUNDS + round) * REGION_BYTES + index;
    }
}
