package io.rdmacomm.comm.mesh.collective;

import org.jspecify.annotations.Nullable;

/// Chooses the [Algorithm] of a collective. All ranks must use the same choice.
///
/// | collective | up to `shortBytes` | up to `treeBytes` and from `treeRanks` ranks | else |
/// |---|---|---|---|
/// | barrier | dissemination | | |
/// | broadcast, reduce | binary tree | double binary tree | ring with 2 or 3 ranks, else double binary tree |
/// | all-reduce | recursive doubling | double binary tree | ring |
/// | all-gather | recursive doubling | ring | ring |
/// | reduce-scatter | direct | ring | ring |
/// | all-to-all | direct | direct | direct |
///
/// The bytes are those of the longer side: of all blocks where there are blocks.
///
/// @param shortBytes up to this length the number of rounds decides
/// @param treeBytes up to this length trees are used from `treeRanks` ranks
/// @param treeRanks from this number of ranks trees are used up to `treeBytes`
/// @param always the algorithm to use for all collectives that know it; null for none
public record AlgorithmChoice(
        long shortBytes,
        long treeBytes,
        int treeRanks,
        @Nullable Algorithm always) {
    private static final AlgorithmChoice DEFAULTS = new AlgorithmChoice(16 << 10, 512 << 10, 8, null);

    /// Checks the ranges.
    public AlgorithmChoice {
        Bounds.range("short bytes", shortBytes, 0, Long.MAX_VALUE);
        Bounds.range("tree bytes", treeBytes, 0, Long.MAX_VALUE);
        Bounds.range("tree ranks", treeRanks, 1, Integer.MAX_VALUE);
    }

    /// Up to 16 KiB the number of rounds decides; trees up to 512 KiB from 8 ranks.
    public static AlgorithmChoice defaults() {
        return DEFAULTS;
    }

    /// `algorithm` for all collectives that know it, the default for the others; for tests and measurements.
    public static AlgorithmChoice always(Algorithm algorithm) {
        return new AlgorithmChoice(DEFAULTS.shortBytes, DEFAULTS.treeBytes, DEFAULTS.treeRanks, algorithm);
    }

    /// The algorithm for a collective.
    ///
    /// @param ranks the number of ranks
    /// @param bytes the length of the data: of all blocks where there are blocks
    public Algorithm algorithm(CollectiveKind kind, int ranks, long bytes) {
        Algorithm wanted = always;
        if (wanted != null && kind.algorithms().contains(wanted)) {
            return wanted;
        }
        return switch (kind) {
            case BARRIER -> Algorithm.DISSEMINATION;
            case BROADCAST, REDUCE -> rooted(ranks, bytes);
            case ALL_REDUCE -> allReduce(ranks, bytes);
            case ALL_GATHER -> bytes <= shortBytes ? Algorithm.RECURSIVE_DOUBLING : Algorithm.RING;
            case ALLOCATE -> Algorithm.RECURSIVE_DOUBLING;
            case REDUCE_SCATTER -> bytes <= shortBytes ? Algorithm.DIRECT : Algorithm.RING;
            case ALL_TO_ALL -> Algorithm.DIRECT;
        };
    }

    private Algorithm rooted(int ranks, long bytes) {
        if (bytes <= shortBytes) {
            return Algorithm.TREE;
        }
        return ranks <= 3 ? Algorithm.RING : Algorithm.DOUBLE_TREE;
    }

    private Algorithm allReduce(int ranks, long bytes) {
        if (bytes <= shortBytes) {
            return Algorithm.RECURSIVE_DOUBLING;
        }
        return bytes <= treeBytes && ranks >= treeRanks ? Algorithm.DOUBLE_TREE : Algorithm.RING;
    }
}
