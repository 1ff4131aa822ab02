package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.rig.FrameCodec;

/// The control messages of a file copy. The sender offers up to [FileSender#WINDOW] files ahead, so that small
/// files do not wait for each other. The receiver answers the offers in order, and the sender sends the data of the
/// accepted files in the same order.
///
/// ```
/// sender                                          receiver
/// HELLO versions, features; chunk, depth     ->
///                                            <-   HELLO versions, features, or REJECT 0; reason
/// OFFER file, folder, kind, size, ...; name  ->
///                                            <-   RING chunk, depth; name of the announced buffer (once)
///                                            <-   ACCEPT file, offset, or SKIP file; why, or REJECT file; reason
/// chunks of data; DATA block, length, file   ->
///                                            <-   CREDIT chunks, or FAILED file; reason
/// END file, CRC32C, or ABORT file; reason    ->
///                                            <-   DONE file, flags; name, or FAILED file; reason
/// ```
///
/// Versions are the lowest and the highest that a side speaks; both use the highest common one, and the features
/// that both have ([CopyGreeting]). Both ignore additional numbers and text.
///
/// The sender proposes the sizes of the ring of blocks, and the receiver chooses them when it first accepts a
/// file with data. Either side sends BUSY every few seconds while it computes a checksum.
enum CopyMessage {
    /// Opens the connection: versions and features, and the largest ring of blocks that the sender wants.
    HELLO,
    /// The sender offers a file; see [Offer].
    OFFER,
    /// The receiver accepts the file, and already has the bytes before the offset.
    ACCEPT,
    /// The receiver rejects the file or the connection.
    REJECT,
    /// The sender has sent all data of the file. The checksum is that of the whole file.
    END,
    /// The sender cannot send the rest of the file.
    ABORT,
    /// The receiver has stored the complete file; see [StoredFile].
    DONE,
    /// The receiver could not store the file.
    FAILED,
    /// The receiver has room for more chunks.
    CREDIT,
    /// A chunk of data has been sent. Over RDMA: the index of its block in the ring, its length, and
    /// the file. Over TCP: the length, 0, and the file; the bytes follow.
    DATA,
    /// The size of the ring that the receiver has chosen.
    RING,
    /// The receiver needs no data: it has the file.
    SKIP,
    /// The sending side is busy, but alive.
    BUSY;

    /// Frames with the magic "RCF1".
    static final FrameCodec<CopyMessage> CODEC =
            new FrameCodec<>(0x52434631, CopyMessage.class, "run `rdmacomm recv` there, with the same --transport");
}
