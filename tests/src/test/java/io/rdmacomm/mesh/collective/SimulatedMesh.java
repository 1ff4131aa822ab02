package io.rdmacomm.mesh.collective;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// All ranks of a mesh on a simulated network. They run the algorithms of the library; only the lanes are simulated.
/// A message takes one hop, and nothing else takes time.
///
/// A rank knows the hops of what it has sent and received, and of nothing else. So they do not depend on the order in
/// which ranks get their turns.
final class SimulatedMesh {
    private final int size;
    private final SlotSizes sizes;
    private final boolean registered;
    private final RankTrees trees;
    private final List<SimulatedRank> ranks = new ArrayList<>();
    private final List<Algorithms> algorithms = new ArrayList<>();
    private final Map<Long, SimulatedFlow> flows = new HashMap<>();
    private Coroutines coroutines = new Coroutines();

    /// @param registered whether the data is in mesh buffers
    SimulatedMesh(int size, SlotSizes sizes, boolean registered) {
        this.size = size;
        this.sizes = sizes;
        this.registered = registered;
        this.trees = RankTrees.of(size);
        for (int rank = 0; rank < size; rank++) {
            SimulatedRank one = new SimulatedRank(this, rank);
            ranks.add(one);
            algorithms.add(new Algorithms(one, trees, Reducer::of));
        }
    }

    private static MemorySegment memory(int bytes) {
        return MemorySegment.ofArray(new double[(bytes + Double.BYTES - 1) / Double.BYTES]);
    }

    /// Runs a collective on all ranks.
    ///
    /// @param from what each rank gives
    /// @param into what it gets
    /// @throws IllegalStateException if it does not end
    void run(
            CollectiveKind kind,
            Algorithm algorithm,
            IntFunction<Elements> from,
            IntFunction<Elements> into,
            @Nullable Reduction reduction,
            int root)
            throws InterruptedException {
        Coroutines fresh = new Coroutines();
        coroutines = fresh;
        flows.values().forEach(flow -> flow.use(fresh));
        fresh.run(size, rank -> {
            SimulatedRank one = ranks.get(rank);
            one.begin();
            algorithms.get(rank).run(kind, algorithm, from.apply(rank), into.apply(rank), reduction, root);
        });
    }

    /// The flow from one rank to another, made when it is first used.
    SimulatedFlow flow(int from, int to, int stream) {
        long key = ((long) from * size + to) * Lane.STREAMS + stream;
        return flows.computeIfAbsent(
                key, _ -> new SimulatedFlow(coroutines, sizes.slots(), memory(sizes.slots() * sizes.slotBytes())));
    }

    /// The number of ranks.
    int size() {
        return size;
    }

    /// As they are for this number of ranks.
    SlotSizes sizes() {
        return sizes;
    }

    boolean isRegistered() {
        return registered;
    }

    /// The number of messages of which each needed the one before.
    int hops() {
        return ranks.stream().mapToInt(SimulatedRank::hops).max().orElse(0);
    }

    /// The pieces that a rank has sent.
    long pieces(int rank) {
        return ranks.get(rank).pieces();
    }

    /// The pieces that all ranks have sent.
    long allPieces() {
        return ranks.stream().mapToLong(SimulatedRank::pieces).sum();
    }

    /// The most ranks that one has talked to.
    int mostPeers() {
        return ranks.stream().mapToInt(SimulatedRank::peers).max().orElse(0);
    }
}
