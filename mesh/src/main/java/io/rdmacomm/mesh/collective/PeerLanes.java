package io.rdmacomm.mesh.collective;

/// An algorithm's view of a mesh: the lanes of a rank to all others. Implemented by [RankConnections] and by tests.
interface PeerLanes {
    /// The rank of this node.
    int rank();

    /// The number of ranks.
    int size();

    /// The longest piece, in bytes.
    int pieceBytes();

    /// The limit of pieces of a stream in flight.
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
