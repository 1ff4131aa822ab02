package io.rdmacomm.mesh.collective;

/// How a collective moves its data. [AlgorithmChoice] chooses one by the number of ranks and bytes.
public enum Algorithm {
    /// Each rank talks to its two neighbors. All links carry the same load, so it is the fastest for long data;
    /// the time of a first byte grows with the number of ranks.
    RING(1, "ring"),
    /// In round `k` each rank talks to a rank `2^k` away: the fewest rounds, for short data. All-reduce exchanges
    /// whole vectors between pairs, after the ranks beyond a power of two were folded into others; all-gather
    /// uses the form of Bruck, which needs no power of two.
    RECURSIVE_DOUBLING(2, "recursive doubling"),
    /// A pipeline along a binary tree.
    TREE(3, "binary tree"),
    /// Two binary trees, each with half of the data. A rank that forwards in one is a leaf of the other.
    DOUBLE_TREE(4, "double binary tree"),
    /// Each rank talks to each other rank.
    DIRECT(5, "direct"),
    /// In round `k`, each rank notifies the rank `2^k` after it, and is notified by the rank `2^k` before it.
    DISSEMINATION(6, "dissemination");

    private final int code;
    private final String label;

    Algorithm(int code, String label) {
        this.code = code;
        this.label = label;
    }

    /// Its name in messages and reports.
    public String label() {
        return label;
    }

    /// Its number on the wire.
    int code() {
        return code;
    }
}
