package io.rdmacomm.mesh.collective;

import org.jspecify.annotations.Nullable;

/// The place of this rank in one tree.
final class TreePosition {
    private final int part;
    private final int depth;
    private final int height;
    private final @Nullable Lane parent;
    private final @Nullable Lane first;
    private final @Nullable Lane second;

    /// @param part the number of the tree, and of its part of the data and its stream
    TreePosition(PeerLanes lanes, Tree tree, int part, int root) {
        int position = Math.floorMod(lanes.rank() - root, lanes.size());
        this.part = part;
        this.depth = tree.depth(position);
        this.height = tree.height();
        this.parent = lane(lanes, tree.parent(position), root);
        this.first = lane(lanes, tree.firstChild(position), root);
        this.second = lane(lanes, tree.secondChild(position), root);
    }

    private @Nullable Lane lane(PeerLanes lanes, int position, int root) {
        return position == Tree.NONE ? null : lanes.lane(position + root, part);
    }

    /// Tells the parent that it may write to `into`.
    void sendReady(Elements into) {
        if (parent != null) {
            parent.sendReady(into);
        }
    }

    /// Reduces the piece that goes up at `tick`, if there is one.
    void up(long tick, Blocks parts, Reducer reducer, Elements from, Elements into) {
        long piece = tick - height + depth;
        if (piece < 0 || piece >= parts.pieces()) {
            return;
        }
        long offset = parts.offset(part, (int) piece);
        int bytes = parts.bytes(part, (int) piece);
        Lane above = parent;
        Lane one = first;
        Lane two = second;
        if (one == null) {
            if (above != null) {
                above.send(from, offset, bytes);
            }
        } else if (above == null) {
            Pieces.reduceInto(one, reducer, from, offset, into, offset, bytes);
        } else if (two == null) {
            Pieces.reduceAndSend(one, above, reducer, from, offset, bytes);
        } else {
            Pieces.reduceAndSend(one, two, above, reducer, from, offset, bytes);
        }
    }

    /// Sends the piece that goes down at `tick`, if there is one.
    void down(long tick, Blocks parts, Elements into) {
        long piece = tick - height - depth;
        if (piece < 0 || piece >= parts.pieces()) {
            return;
        }
        long offset = parts.offset(part, (int) piece);
        int bytes = parts.bytes(part, (int) piece);
        if (parent != null) {
            parent.receive(into, offset, bytes);
        }
        forward(first, into, offset, bytes);
        forward(second, into, offset, bytes);
    }

    private void forward(@Nullable Lane child, Elements into, long offset, int bytes) {
        if (child != null) {
            child.sendToTarget(into, offset, bytes, offset);
        }
    }
}
