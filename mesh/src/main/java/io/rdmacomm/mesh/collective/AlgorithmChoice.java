package io.rdmacomm.mesh.collective;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Chooses the [Algorithm] of a collective. All ranks must use the same choice.
///
/// | collective | up to `shortBytes` | up to `treeBytes` and from `treeRanks` ranks | else |
/// |---|---|---|---|
/// | barrier | dissemination | dissemination | dissemination |
/// | broadcast, reduce with 2 or 3 ranks | binary tree | ring | ring |
/// | broadcast, reduce with more | binary tree | double binary tree | double binary tree |
/// | all-reduce | recursive doubling | double binary tree | ring |
/// | all-gather | recursive doubling | ring | ring |
/// | reduce-scatter | direct | ring | ring |
/// | all-to-all | direct | direct | direct |
///
/// The bytes are those of the longer side: of all blocks where there are blocks.
///
/// Immutable.
public final class AlgorithmChoice {
    private static final AlgorithmChoice DEFAULTS = new AlgorithmChoice();

    private long shortBytes = 16 << 10;
    private long treeBytes = 512 << 10;
    private int treeRanks = 8;
    private @Nullable Algorithm always;

    private AlgorithmChoice() {}

    private AlgorithmChoice with(Consumer<AlgorithmChoice> change) {
        AlgorithmChoice copy = new AlgorithmChoice();
        copy.shortBytes = shortBytes;
        copy.treeBytes = treeBytes;
        copy.treeRanks = treeRanks;
        copy.always = always;
        change.accept(copy);
        return copy;
    }

    /// Up to 16 KiB the number of rounds decides; trees up to 512 KiB from 8 ranks.
    public static AlgorithmChoice defaults() {
        return DEFAULTS;
    }

    /// This choice with another length up to which the number of rounds decides.
    ///
    /// @param value at least 0
    public AlgorithmChoice withShortBytes(long value) {
        Bounds.range("short bytes", value, 0, Long.MAX_VALUE);
        return with(to -> to.shortBytes = value);
    }

    /// This choice with another length up to which trees are used from [#treeRanks()] ranks.
    ///
    /// @param value at least 0
    public AlgorithmChoice withTreeBytes(long value) {
        Bounds.range("tree bytes", value, 0, Long.MAX_VALUE);
        return with(to -> to.treeBytes = value);
    }

    /// This choice with another number of ranks from which trees are used up to [#treeBytes()].
    ///
    /// @param value at least 1
    public AlgorithmChoice withTreeRanks(int value) {
        Bounds.range("tree ranks", value, 1, Integer.MAX_VALUE);
        return with(to -> to.treeRanks = value);
    }

    /// `algorithm` for all collectives that know it, the default for the others; for tests and measurements.
    public static AlgorithmChoice always(Algorithm algorithm) {
        return DEFAULTS.with(to -> to.always = algorithm);
    }

    /// Up to this length the number of rounds decides.
    public long shortBytes() {
        return shortBytes;
    }

    /// Up to this length trees are used from [#treeRanks()] ranks.
    public long treeBytes() {
        return treeBytes;
    }

    /// From this number of ranks trees are used up to [#treeBytes()].
    public int treeRanks() {
        return treeRanks;
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
