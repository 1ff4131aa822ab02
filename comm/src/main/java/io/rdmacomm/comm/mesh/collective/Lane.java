package io.rdmacomm.comm.mesh.collective;

import java.lang.foreign.MemorySegment;

/// One stream of pieces to and from one peer, in order: what an algorithm sees of a peer. [ChannelLane] is the one
/// that is used; tests have another one.
///
/// For the thread in a collective. Methods that wait for the peer throw what [Collectives] lists.
interface Lane {
    /// How many streams there are to each peer: a rank is in two trees at a time.
    int STREAMS = 2;

    /// The memory in which [#claim] gives room.
    MemorySegment room();

    /// Waits for the next slot, so that the caller can fill it.
    ///
    /// @return where its data begins in [#room()]
    long claim();

    /// Sends the slot that was claimed.
    void sendClaimed(int bytes);

    /// Sends a copy of a piece, so that the caller may change it at once.
    void sendCopy(Elements from, long offset, int bytes);

    /// Sends a piece, which must stay as it is until the end of the call.
    void send(Elements from, long offset, int bytes);

    /// Sends a piece without data.
    void sendEmpty();

    /// Writes a piece into the peer's buffer of this call, once the peer has named it with [#sendReady].
    /// Short pieces, and those of other memory, are sent like others.
    ///
    /// @param buffers the buffers of this mesh, which the peer chooses from
    /// @param targetOffset where the piece belongs in the peer's data
    void sendToTarget(Elements from, long offset, int bytes, MeshBuffers buffers, long targetOffset);

    /// Tells the peer that it may write into `target` in this call. Not needed if all pieces are short.
    void sendReady(Elements target);

    /// Waits for the next piece, which is then at [#dataOffset()] in [#data()] until [#release()].
    ///
    /// @param bytes its length
    void await(int bytes);

    /// The memory that the piece is in. The caller may change it.
    MemorySegment data();

    /// Where the piece begins in [#data()].
    long dataOffset();

    /// Gives the piece back.
    void release();

    /// Waits for the next piece, and puts it where it belongs.
    void receive(Elements into, long offset, int bytes);

    /// Waits for a piece without data.
    void receiveEmpty();
}
