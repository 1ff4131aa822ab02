package io.rdmacomm.mesh.collective;

import java.lang.foreign.MemorySegment;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/// All algorithms of one rank, and their choice for each collective. They access peers only through [PeerLanes].
final class Algorithms {
    private final int rank;
    private final BiFunction<ElementType, Reduction, Reducer> reducers;
    private final RingAlgorithms ring;
    private final TreeAlgorithms trees;
    private final DoublingAlgorithms doubling;
    private final DirectAlgorithms direct;

    /// @param trees the trees over all ranks
    /// @param reducers the reducer of numbers of a type
    Algorithms(PeerLanes lanes, RankTrees trees, BiFunction<ElementType, Reduction, Reducer> reducers) {
        this.rank = lanes.rank();
        this.reducers = reducers;
        this.ring = new RingAlgorithms(lanes);
        this.trees = new TreeAlgorithms(lanes, trees);
        this.doubling = new DoublingAlgorithms(lanes);
        this.direct = new DirectAlgorithms(lanes);
    }

    /// Runs a collective of several ranks. The arguments fit each other.
    ///
    /// @param from the input of this rank
    /// @param into the output of this rank
    void run(
            CollectiveKind kind,
            Algorithm algorithm,
            Elements from,
            Elements into,
            @Nullable Reduction reduction,
            int root) {
        switch (kind) {
            case BARRIER -> doubling.barrier();
            case BROADCAST -> trees.broadcast(algorithm, into, root);
            case ALL_GATHER, ALLOCATE -> allGather(algorithm, from, into);
            case ALL_TO_ALL -> direct.allToAll(from, into);
            case REDUCE, ALL_REDUCE, REDUCE_SCATTER -> {
                if (reduction == null) {
                    throw new IllegalArgumentException(kind.label() + " needs a reduction");
                }
                reduce(kind, algorithm, from, into, reducers.apply(from.type(), reduction), root);
            }
        }
    }

    private void reduce(
            CollectiveKind kind, Algorithm algorithm, Elements from, Elements into, Reducer reducer, int root) {
        if (kind == CollectiveKind.REDUCE) {
            trees.reduce(algorithm, from, into, reducer, root);
        } else if (kind == CollectiveKind.REDUCE_SCATTER) {
            if (algorithm == Algorithm.DIRECT) {
                direct.reduceScatter(from, into, reducer);
            } else {
                ring.reduceScatter(from, into, reducer);
            }
        } else if (algorithm == Algorithm.RING) {
            ring.allReduce(from, into, reducer);
        } else if (algorithm == Algorithm.RECURSIVE_DOUBLING) {
            copy(from, into, 0);
            doubling.allReduce(into, reducer);
        } else {
            trees.allReduce(algorithm, from, into, reducer);
        }
    }

    private void allGather(Algorithm algorithm, Elements from, Elements into) {
        copy(from, into, rank * from.bytes());
        if (algorithm == Algorithm.RING) {
            ring.allGather(into);
        } else {
            doubling.allGather(into);
        }
    }

    /// Copies the input of a rank to `offset` of its output, unless it is there already.
    static void copy(Elements from, Elements into, long offset) {
        if (!from.isSame(into)) {
            MemorySegment.copy(from.segment(), 0, into.segment(), offset, from.bytes());
        }
    }
}
