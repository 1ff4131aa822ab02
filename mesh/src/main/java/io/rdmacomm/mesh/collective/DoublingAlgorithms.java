package io.rdmacomm.mesh.collective;

import java.lang.foreign.MemorySegment;

/// The algorithms with the fewest rounds: in each, the distance between communicating ranks doubles. Pieces are
/// always copied: they change, or are too short for a WRITE to pay off.
final class DoublingAlgorithms {
    private final PeerLanes lanes;
    private final int rank;
    private final int size;

    DoublingAlgorithms(PeerLanes lanes) {
        this.lanes = lanes;
        this.rank = lanes.rank();
        this.size = lanes.size();
    }

    /// In round k, each rank notifies the one 2^k after it, and waits for the one 2^k before it. After the last
    /// round it has heard from all, directly or indirectly.
    void barrier() {
        for (int distance = 1; distance < size; distance <<= 1) {
            lanes.lane(rank + distance).sendEmpty();
            lanes.lane(rank - distance).receiveEmpty();
        }
    }

    /// Pairs exchange and combine all that they know. Ranks beyond a power of two first give their numbers to a
    /// neighbor, and get the result in the end. Both ranks of a pair combine the same two values, so all ranks
    /// have the same result in each bit, NaN excepted: Java does not define which of several NaNs a sum is.
    ///
    /// @param data the numbers of this rank, replaced by the result
    void allReduce(Elements data, Reducer reducer) {
        int power = Integer.highestOneBit(size);
        int pairs = size - power;
        if (rank < 2 * pairs && rank % 2 == 0) {
            Lane neighbor = lanes.lane(rank + 1);
            send(neighbor, data);
            receive(neighbor, data);
            return;
        }
        if (rank < 2 * pairs) {
            reduce(lanes.lane(rank - 1), data, reducer);
        }
        int position = rank < 2 * pairs ? rank / 2 : rank - pairs;
        for (int distance = 1; distance < power; distance <<= 1) {
            int other = position ^ distance;
            exchange(lanes.lane(other < pairs ? 2 * other + 1 : other + pairs), data, reducer);
        }
        if (rank < 2 * pairs) {
            send(lanes.lane(rank - 1), data);
        }
    }

    private int pieceCount(Elements data) {
        return Blocks.pieces(data.bytes(), lanes.pieceBytes());
    }

    private int bytes(Elements data, int piece) {
        return Blocks.pieceLength(data.bytes(), piece, lanes.pieceBytes());
    }

    private long offset(int piece) {
        return (long) piece * lanes.pieceBytes();
    }

    private void send(Lane lane, Elements data) {
        for (int piece = 0; piece < pieceCount(data); piece++) {
            lane.sendCopy(data, offset(piece), bytes(data, piece));
        }
    }

    private void receive(Lane lane, Elements data) {
        for (int piece = 0; piece < pieceCount(data); piece++) {
            lane.receive(data, offset(piece), bytes(data, piece));
        }
    }

    private void reduce(Lane lane, Elements data, Reducer reducer) {
        for (int piece = 0; piece < pieceCount(data); piece++) {
            Pieces.reduceInto(lane, reducer, data, offset(piece), data, offset(piece), bytes(data, piece));
        }
    }

    private void exchange(Lane lane, Elements data, Reducer reducer) {
        for (int piece = 0; piece < pieceCount(data); piece++) {
            lane.sendCopy(data, offset(piece), bytes(data, piece));
            Pieces.reduceInto(lane, reducer, data, offset(piece), data, offset(piece), bytes(data, piece));
        }
    }

    /// The all-gather of Bruck and others: before round k, a rank has 2^k blocks, its own and the next ones. It
    /// sends them to the rank 2^k before it, and gets as many from the rank 2^k after it; in the last round, only
    /// those that are missing. Blocks are counted around, so a range of them can have two parts in memory.
    ///
    /// @param into all blocks; that of this rank is in its place
    void allGather(Elements into) {
        long block = into.bytes() / size;
        for (int known = 1; known < size; known <<= 1) {
            long bytes = block * Math.min(known, size - known);
            Lane out = lanes.lane(rank - known);
            Lane in = lanes.lane(rank + known);
            long from = rank * block;
            long to = (rank + known) % size * block;
            int count = Blocks.pieces(bytes, lanes.pieceBytes());
            for (int piece = 0; piece < count; piece++) {
                int length = Blocks.pieceLength(bytes, piece, lanes.pieceBytes());
                sendAround(out, into.segment(), from + offset(piece), length);
                receiveAround(in, into.segment(), to + offset(piece), length);
            }
        }
    }

    private static void sendAround(Lane out, MemorySegment memory, long position, int length) {
        long total = memory.byteSize();
        long from = total == 0 ? 0 : position % total;
        long firstPart = Math.min(length, total - from);
        long to = out.claim();
        MemorySegment.copy(memory, from, out.room(), to, firstPart);
        MemorySegment.copy(memory, 0, out.room(), to + firstPart, length - firstPart);
        out.sendClaimed(length);
    }

    private static void receiveAround(Lane in, MemorySegment memory, long position, int length) {
        long total = memory.byteSize();
        long to = total == 0 ? 0 : position % total;
        long firstPart = Math.min(length, total - to);
        in.await(length);
        MemorySegment.copy(in.data(), in.dataOffset(), memory, to, firstPart);
        MemorySegment.copy(in.data(), in.dataOffset() + firstPart, memory, 0, length - firstPart);
        in.release();
    }
}
