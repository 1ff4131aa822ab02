package io.rdmacomm.mesh.collective;

import org.jspecify.annotations.Nullable;

/// Pipelines along one or two trees, and along a chain of all ranks, which is a tree as well.
///
/// Data goes up a tree to be reduced, and down to be distributed, one piece after the other. All ranks follow one
/// timetable, in which a piece moves one level at each tick: in a tree of height h, a rank at depth d sends piece p
/// up at tick p + h - d, and down at tick p + h + d. So everything that a rank waits for has an earlier tick, even
/// the return of a slot, because there are at least two. Therefore no cycle of waits can close, and all levels work
/// at the same time.
final class TreeAlgorithms {
    private final Forest binary;
    private final Forest twoBinary;
    private final Forest chain;

    /// @param trees the trees over all ranks
    TreeAlgorithms(PeerLanes lanes, RankTrees trees) {
        this.binary = new Forest(lanes, trees.binary());
        this.twoBinary = new Forest(lanes, trees.binary(), trees.second());
        this.chain = new Forest(lanes, trees.chain());
    }

    private Forest forest(Algorithm algorithm) {
        return switch (algorithm) {
            case DOUBLE_TREE -> twoBinary;
            case RING -> chain;
            default -> binary;
        };
    }

    /// Distributes the data of `root`.
    void broadcast(Algorithm algorithm, Elements data, int root) {
        run(forest(algorithm), null, data, data, root, true);
    }

    /// Reduces to `root`.
    ///
    /// @param into used on the root only
    void reduce(Algorithm algorithm, Elements from, Elements into, Reducer reducer, int root) {
        run(forest(algorithm), reducer, from, into, root, false);
    }

    /// Reduces to rank 0, and distributes each piece of the result immediately.
    void allReduce(Algorithm algorithm, Elements from, Elements into, Reducer reducer) {
        run(forest(algorithm), reducer, from, into, 0, true);
    }

    private static void run(
            Forest forest, @Nullable Reducer reducer, Elements from, Elements into, int root, boolean down) {
        TreePosition[] positions = forest.positions(root);
        Blocks parts = forest.parts(from);
        if (down) {
            for (TreePosition position : positions) {
                position.sendReady(into);
            }
        }
        long ticks = parts.pieces() + 2L * forest.height();
        for (long tick = 0; tick < ticks; tick++) {
            for (TreePosition position : positions) {
                if (reducer != null) {
                    position.up(tick, parts, reducer, from, into);
                }
                if (down) {
                    position.down(tick, parts, into);
                }
            }
        }
    }
}
