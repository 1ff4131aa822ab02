package io.rdmacomm.comm.mesh.collective;

/// The lanes of a rank to all others: what an algorithm sees of a mesh. [RankLinks] is the one that is used; tests
/// have another one.
interface Lanes {
    /// The rank of this node.
    int rank();

    /// The number of ranks.
    int size();

    /// The longest piece, in bytes.
    int pieceBytes();

    /// The number of pieces of a stream that may be on their way.
    int slots();

    /// A stream to and from a rank.
    ///
    /// @param peer any number; it is taken modulo the number of ranks
    Lane lane(int peer, int stream);

    /// The first stream to and from a rank.
    default Lane lane(int peer) {
        return lane(peer, 0);
    }
}
