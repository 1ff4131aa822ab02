package io.rdmacomm.mesh.collective;

/// A range of elements in nearly equal blocks, one for each rank, each in pieces. All numbers are bytes.
///
/// @param count elements of all blocks
/// @param elementBytes the length of an element
/// @param ranks the number of blocks
/// @param pieceBytes the longest piece, a multiple of the length of an element
record Blocks(long count, int elementBytes, int ranks, int pieceBytes) {
    /// The start of block `index`.
    ///
    /// @param index any number; it is taken modulo the number of blocks
    long start(int index) {
        return first(Math.floorMod(index, ranks)) * elementBytes;
    }

    private long first(long index) {
        return count / ranks * index + Math.min(index, count % ranks);
    }

    private long length(int index) {
        int block = Math.floorMod(index, ranks);
        return (first(block + 1L) - first(block)) * elementBytes;
    }

    /// The number of pieces of the longest block; at least one, which may be empty.
    int pieces() {
        return pieces(length(0), pieceBytes);
    }

    /// The number of pieces of `bytes`; at least one, which may be empty.
    static int pieces(long bytes, int pieceBytes) {
        return Math.toIntExact(Math.max(1, (bytes + pieceBytes - 1) / pieceBytes));
    }

    /// The offset of piece `piece` of block `index`.
    long offset(int index, int piece) {
        return start(index) + Math.min((long) piece * pieceBytes, length(index));
    }

    /// The length of piece `piece` of block `index`; 0 if the block has fewer pieces.
    int bytes(int index, int piece) {
        return pieceLength(length(index), piece, pieceBytes);
    }

    /// The length of piece `piece` of `bytes`; 0 if there are fewer pieces.
    static int pieceLength(long bytes, int piece, int pieceBytes) {
        return Math.clamp(bytes - (long) piece * pieceBytes, 0, pieceBytes);
    }
}
