package io.rdmacomm.mesh.collective;

import java.lang.foreign.MemorySegment;

/// Each rank communicates with each other rank: in step s, it sends to the rank s after it and receives from the
/// rank s before it.
final class DirectAlgorithms {
    private final PeerLanes lanes;
    private final int rank;
    private final int size;

    DirectAlgorithms(PeerLanes lanes) {
        this.lanes = lanes;
        this.rank = lanes.rank();
        this.size = lanes.size();
    }

    /// Block j of `from` goes to rank j, where it is block `rank` of `into`.
    void allToAll(Elements from, Elements into) {
        long block = from.bytes() / size;
        MemorySegment.copy(from.segment(), rank * block, into.segment(), rank * block, block);
        Move receive = (in, peer, offset, bytes) -> in.receive(into, peer * block + offset, bytes);
        if (!from.isRegistered() || !into.isRegistered()) {
            exchange(block, (to, peer, offset, bytes) -> to.send(from, peer * block + offset, bytes), receive);
            return;
        }
        for (int step = 1; step < size; step++) {
            lanes.lane(rank - step).sendReady(into);
        }
        exchange(
                block,
                (to, peer, offset, bytes) -> to.sendToTarget(from, peer * block + offset, bytes, rank * block + offset),
                receive);
    }

    /// Block j of `from` goes to rank j, which reduces what it gets in a fixed order of ranks: the result does not
    /// depend on timing.
    ///
    /// @param into one block
    void reduceScatter(Elements from, Elements into, Reducer reducer) {
        long block = from.bytes() / size;
        MemorySegment.copy(from.segment(), rank * block, into.segment(), 0, block);
        exchange(
                block,
                (to, peer, offset, bytes) -> to.sendCopy(from, peer * block + offset, bytes),
                (in, peer, offset, bytes) -> Pieces.reduceInto(in, reducer, into, offset, into, offset, bytes));
    }

    /// The action for a piece of a block.
    @FunctionalInterface
    private interface Move {
        void move(Lane lane, int peer, long offset, int bytes);
    }

    /// Sends all short blocks before it receives the first one.
    private void exchange(long block, Move send, Move receive) {
        int pieceBytes = lanes.pieceBytes();
        int count = Blocks.pieces(block, pieceBytes);
        if (count == 1) {
            for (int step = 1; step < size; step++) {
                int to = Math.floorMod(rank + step, size);
                send.move(lanes.lane(to), to, 0, (int) block);
            }
            for (int step = 1; step < size; step++) {
                int from = Math.floorMod(rank - step, size);
                receive.move(lanes.lane(from), from, 0, (int) block);
            }
            return;
        }
        for (int step = 1; step < size; step++) {
            int to = Math.floorMod(rank + step, size);
            int from = Math.floorMod(rank - step, size);
            for (int piece = 0; piece < count; piece++) {
                long offset = (long) piece * pieceBytes;
                int bytes = Blocks.pieceLength(block, piece, pieceBytes);
                send.move(lanes.lane(to), to, offset, bytes);
                receive.move(lanes.lane(from), from, offset, bytes);
            }
        }
    }
}
