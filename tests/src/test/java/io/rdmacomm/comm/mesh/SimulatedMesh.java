package io.rdmacomm.comm.mesh;

import io.rdmacomm.tests.simulation.clock.Coroutines;
import io.rdmacomm.tests.simulation.clock.Network;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// All ranks of a mesh on a simulated network. They run the algorithms of the library; only the lanes are simulated.
///
/// A rank knows the time of what it has sent and received, and of nothing else. So the times do not depend on the order
/// in which ranks get their turns.
public final class SimulatedMesh {
    private final Network network;
    private final int size;
    private final CollectiveOptions options;
    private final boolean registered;
    private final boolean movesData;
    private final MemorySegment nowhere;
    private final Trees trees;
    private final MeshBuffers buffers = new MeshBuffers();
    private final List<SimulatedRank> ranks = new ArrayList<>();
    private final List<Algorithms> algorithms = new ArrayList<>();
    private final Map<Long, SimulatedFlow> flows = new HashMap<>();
    private Coroutines coroutines = new Coroutines();

    private SimulatedMesh(Network network, int size, CollectiveOptions wanted, boolean registered, boolean movesData) {
        this.network = network;
        this.size = size;
        this.options = wanted.settled(size - 1);
        this.registered = registered;
        this.movesData = movesData;
        this.nowhere = memory(options.slotBytes());
        this.trees = Trees.of(size);
        for (int rank = 0; rank < size; rank++) {
            SimulatedRank one = new SimulatedRank(this, rank);
            ranks.add(one);
            algorithms.add(new Algorithms(one, buffers, trees, one::reducer));
        }
    }

    /// Ranks whose data is moved and reduced: for results.
    ///
    /// @param registered whether it is in mesh buffers
    public static SimulatedMesh withData(Network network, int size, CollectiveOptions options, boolean registered) {
        return new SimulatedMesh(network, size, options, registered, true);
    }

    /// Ranks whose data, in mesh buffers, is counted but not touched: for time.
    public static SimulatedMesh withoutData(Network network, int size, CollectiveOptions options) {
        return new SimulatedMesh(network, size, options, true, false);
    }

    private static MemorySegment memory(int bytes) {
        return MemorySegment.ofArray(new double[(bytes + Double.BYTES - 1) / Double.BYTES]);
    }

    /// Options as they are for a number of ranks.
    public static CollectiveOptions settled(CollectiveOptions wanted, int ranks) {
        return wanted.settled(ranks - 1);
    }

    /// Runs a collective on all ranks.
    ///
    /// @param from what each rank gives
    /// @param into what it gets
    /// @throws IllegalStateException if it does not end
    public void run(
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
            one.end();
        });
    }

    /// The flow from one rank to another, made when it is first used.
    SimulatedFlow flow(int from, int to, int stream) {
        long key = ((long) from * size + to) * Lane.STREAMS + stream;
        return flows.computeIfAbsent(
                key,
                _ -> new SimulatedFlow(
                        coroutines,
                        options.slots(),
                        movesData ? memory(options.slots() * options.slotBytes()) : nowhere));
    }

    Network network() {
        return network;
    }

    /// The number of ranks.
    public int size() {
        return size;
    }

    /// As they are for this number of ranks.
    public CollectiveOptions options() {
        return options;
    }

    boolean isRegistered() {
        return registered;
    }

    boolean movesData() {
        return movesData;
    }

    long slotOffset(int slot) {
        return movesData ? (long) slot * options.slotBytes() : 0;
    }

    /// When the last rank has ended all calls so far, in nanoseconds.
    public double nanos() {
        return ranks.stream().mapToDouble(SimulatedRank::now).max().orElse(0);
    }

    /// The pieces that a rank has sent.
    public long pieces(int rank) {
        return ranks.get(rank).pieces();
    }

    /// The SENDs and WRITEs that a rank has posted.
    public long requests(int rank) {
        return ranks.get(rank).requests();
    }

    /// The bytes of these.
    public long bytes(int rank) {
        return ranks.get(rank).bytes();
    }

    /// The most pieces that a rank has sent.
    public long mostPieces() {
        return ranks.stream().mapToLong(SimulatedRank::pieces).max().orElse(0);
    }

    /// The pieces that all ranks have sent.
    public long allPieces() {
        return ranks.stream().mapToLong(SimulatedRank::pieces).sum();
    }

    /// The most notices without a piece that a rank has sent.
    public long mostNotices() {
        return ranks.stream().mapToLong(SimulatedRank::notices).max().orElse(0);
    }

    /// The most ranks that one has talked to.
    public int mostPeers() {
        return ranks.stream().mapToInt(SimulatedRank::peers).max().orElse(0);
    }
}
