package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.wire.FrameCodec;

/// The control messages of a file copy.
///
/// ```
/// sender                                     receiver
/// HELLO version, chunk, depth           ->
///                                       <-   HELLO version, chunk, depth; name of the announced buffer
/// OFFER file, size, mode, time; name    ->
///                                       <-   ACCEPT file, or REJECT file; reason
/// chunks of data; DATA block, length    ->
///                                       <-   CREDIT chunks, or FAILED file; reason
/// END file, CRC32C, or ABORT file; reason  ->
///                                       <-   DONE file, or FAILED file; reason
/// ```
enum CopyMessage {
    /// Opens the connection: the version of the protocol and the size of the ring of blocks.
    HELLO,
    /// The sender offers a file; see [Offer].
    OFFER,
    /// The receiver accepts the file.
    ACCEPT,
    /// The receiver rejects the file or the connection.
    REJECT,
    /// The sender has sent all data of the file.
    END,
    /// The sender cannot send the rest of the file.
    ABORT,
    /// The receiver has stored the complete file under its name.
    DONE,
    /// The receiver could not store the file.
    FAILED,
    /// The receiver has room for more chunks.
    CREDIT,
    /// A chunk of data has been sent: over RDMA, the index of its block in the ring and its length.
    DATA;

    /// The version of this protocol.
    static final long VERSION = 2;

    /// Frames with the magic "RCF1".
    static final FrameCodec<CopyMessage> CODEC = new FrameCodec<>(
            0x52434631,
            CopyMessage.class,
            "run `rdmacomm recv` there, in the same version and with the same --transport");
}
