package io.rdmacomm.comm;

/// Places of the same size that follow each other in a chunk, each with the piece that is used for it again and
/// again. Its size class guards it.
final class Slab {
    private final SizeClass size;
    private final PoolChunk chunk;
    private final long offset;
    private final Piece[] pieces;
    // The free places. The one given back last is on top, because its memory is most likely in the cache.
    private final int[] free;
    private int count;
    private boolean used;

    /// @param offset where it begins in the chunk
    Slab(SizeClass size, PoolChunk chunk, long offset, int places) {
        this.size = size;
        this.chunk = chunk;
        this.offset = offset;
        this.pieces = new Piece[places];
        this.free = new int[places];
        for (int i = 0; i < places; i++) {
            pieces[i] = new Piece(this, i, chunk.buffer(), offset + i * size.bytes(), size.bytes());
            free[i] = places - 1 - i;
        }
        this.count = places;
    }

    SizeClass size() {
        return size;
    }

    PoolChunk chunk() {
        return chunk;
    }

    /// Where it begins in its chunk.
    long offset() {
        return offset;
    }

    /// The length of all its places together.
    long bytes() {
        return pieces.length * size.bytes();
    }

    /// Takes a free place; there is one.
    Piece take() {
        used = true;
        return pieces[free[--count]];
    }

    void give(int place) {
        // It has been used until now.
        used = true;
        free[count++] = place;
    }

    /// Whether all places are taken.
    boolean isFull() {
        return count == 0;
    }

    /// Whether all places are free.
    boolean isFree() {
        return count == free.length;
    }

    /// Whether a place was taken since the last call.
    boolean wasUsed() {
        boolean was = used;
        used = false;
        return was;
    }
}
