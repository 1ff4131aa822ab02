package io.rdmacomm.mesh.collective;

/// Trees that share the data: each has a part of it, and a stream. The result of the last call is kept, because
/// most calls are like the one before.
final class Forest {
    private final PeerLanes lanes;
    private final Tree[] trees;
    private final TreePosition[] positions;
    private int root = -1;
    private Blocks parts;

    /// @param trees at most as many as there are streams
    Forest(PeerLanes lanes, Tree... trees) {
        this.lanes = lanes;
        this.trees = trees;
        this.positions = new TreePosition[trees.length];
        this.parts = new Blocks(0, 1, trees.length, lanes.pieceBytes());
    }

    /// The place of this rank in each tree.
    TreePosition[] positions(int newRoot) {
        if (newRoot != root) {
            for (int i = 0; i < trees.length; i++) {
                positions[i] = new TreePosition(lanes, trees[i], i, newRoot);
            }
            root = newRoot;
        }
        return positions;
    }

    /// The part of each tree.
    Blocks parts(Elements data) {
        int elementBytes = data.type().bytes();
        if (parts.count() != data.count() || parts.elementBytes() != elementBytes) {
            parts = new Blocks(data.count(), elementBytes, trees.length, lanes.pieceBytes());
        }
        return parts;
    }

    /// The height of the highest tree.
    int height() {
        int highest = 0;
        for (Tree tree : trees) {
            highest = Math.max(highest, tree.height());
        }
        return highest;
    }
}
