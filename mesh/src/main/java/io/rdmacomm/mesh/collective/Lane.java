package io.rdmacomm.mesh.collective;

import java.lang.foreign.MemorySegment;

/// An algorithm's view of a peer: one stream of pieces to and from it, in order. Implemented by [ChannelLane] and
/// by tests.
///
/// For the thread in a collective. Methods that wait for the peer throw what [Collectives] lists.
interface Lane {
    /// The number of streams to each peer: a rank can be in two trees.
    int STREAMS = 2;

    /// The memory that contains the slot of [#claim].
    MemorySegment room();

    /// Waits for the next slot, so that the caller can fill it.
    ///
    /// @return the offset of its data in [#room()]
    long claim();

    /// Sends the slot that was claimed.
    void sendClaimed(int bytes);

    /// Sends a copy of a piece, so that the caller may change it at once.
    void sendCopy(Elements from, long offset, int bytes);

    /// Sends a piece, which must not change until the end of the call.
    void send(Elements from, long offset, int bytes);

    /// Sends a piece without data.
    void sendEmpty();

    /// Writes a piece into the peer's buffer of this call, once the peer has named it with [#sendReady].
    /// Short pieces, and those of other memory, are sent like others.
    ///
    /// @param targetOffset the offset of the piece in the peer's data
    void sendToTarget(Elements from, long offset, int bytes, long targetOffset);

    /// Tells the peer that it may write into `target` in this call. Not needed if all pieces are short.
    void sendReady(Elements target);

    /// Waits for the next piece, which is then at [#dataOffset()] in [#data()] until [#release()].
    ///
    /// @param bytes its length
    void await(int bytes);

    /// The memory that the piece is in. The caller may change it.
    MemorySegment data();

    /// The offset of the piece in [#data()].
    long dataOffset();

    /// Returns the slot of the piece.
    void release();

    /// Waits for the next piece, and copies it to its place.
    void receive(Elements into, long offset, int bytes);

    /// Waits for a piece without data.
    void receiveEmpty();
}
