package io.rdmacomm.mesh.collective;

/// The ring: each rank receives from the rank before it and sends to the next one.
///
/// In each step, a rank receives one piece of one block and sends one of another, so that all links are busy. A
/// few pieces take each step together, which gives neighbors some slack. All ranks take the same steps in the
/// same order. A step needs the step before of the rank before it, and a slot that the next rank gave back
/// several steps before; so no cycle of waits can close.
final class RingAlgorithms {
    private final PeerLanes lanes;
    private final int rank;
    private final int size;
    private final int together;

    RingAlgorithms(PeerLanes lanes) {
        this.lanes = lanes;
        this.rank = lanes.rank();
        this.size = lanes.size();
        this.together = Math.max(1, lanes.slots() / 2);
    }

    private Blocks blocks(long count, Elements like) {
        return new Blocks(count, like.type().bytes(), size, lanes.pieceBytes());
    }

    /// First each rank gets one reduced block, in n-1 steps; then the reduced blocks go around, in n-1 steps.
    ///
    /// A rank may write a reduced block into the buffer of the next one without asking whether that still needs
    /// the old content: the reduction contains it.
    void allReduce(Elements from, Elements into, Reducer reducer) {
        Lane in = lanes.lane(rank - 1);
        Lane out = lanes.lane(rank + 1);
        Blocks blocks = blocks(from.count(), from);
        in.sendReady(into);
        for (int base = 0; base < blocks.pieces(); base += together) {
            int end = Math.min(blocks.pieces(), base + together);
            for (int step = 0; step < 2 * size - 1; step++) {
                for (int piece = base; piece < end; piece++) {
                    allReduceStep(in, out, blocks, step, piece, from, into, reducer);
                }
            }
        }
    }

    private void allReduceStep(
            Lane in, Lane out, Blocks blocks, int step, int piece, Elements from, Elements into, Reducer reducer) {
        int block = rank - step;
        long offset = blocks.offset(block, piece);
        int bytes = blocks.bytes(block, piece);
        if (step == 0) {
            out.send(from, offset, bytes);
        } else if (step < size - 1) {
            Pieces.reduceAndSend(in, out, reducer, from, offset, bytes);
        } else if (step == size - 1) {
            Pieces.reduceInto(in, reducer, from, offset, into, offset, bytes);
            out.sendToTarget(into, offset, bytes, offset);
        } else {
            in.receive(into, offset, bytes);
            if (step < 2 * size - 2) {
                out.sendToTarget(into, offset, bytes, offset);
            }
        }
    }

    /// The first half of [#allReduce], shifted so that each rank ends with its own block.
    ///
    /// @param into one block
    void reduceScatter(Elements from, Elements into, Reducer reducer) {
        Lane in = lanes.lane(rank - 1);
        Lane out = lanes.lane(rank + 1);
        Blocks blocks = blocks(from.count(), from);
        for (int base = 0; base < blocks.pieces(); base += together) {
            int end = Math.min(blocks.pieces(), base + together);
            for (int step = 0; step < size; step++) {
                for (int piece = base; piece < end; piece++) {
                    int block = rank - 1 - step;
                    long offset = blocks.offset(block, piece);
                    int bytes = blocks.bytes(block, piece);
                    if (step == 0) {
                        out.send(from, offset, bytes);
                    } else if (step < size - 1) {
                        Pieces.reduceAndSend(in, out, reducer, from, offset, bytes);
                    } else {
                        Pieces.reduceInto(in, reducer, from, offset, into, offset - blocks.start(block), bytes);
                    }
                }
            }
        }
    }

    /// Passes the blocks around the ring.
    ///
    /// @param into all blocks; that of this rank is in its place
    void allGather(Elements into) {
        Lane in = lanes.lane(rank - 1);
        Lane out = lanes.lane(rank + 1);
        Blocks blocks = blocks(into.count(), into);
        in.sendReady(into);
        for (int base = 0; base < blocks.pieces(); base += together) {
            int end = Math.min(blocks.pieces(), base + together);
            for (int step = 0; step < size; step++) {
                for (int piece = base; piece < end; piece++) {
                    int block = rank - step;
                    long offset = blocks.offset(block, piece);
                    int bytes = blocks.bytes(block, piece);
                    if (step > 0) {
                        in.receive(into, offset, bytes);
                    }
                    if (step < size - 1) {
                        out.sendToTarget(into, offset, bytes, offset);
                    }
                }
            }
        }
    }
}
