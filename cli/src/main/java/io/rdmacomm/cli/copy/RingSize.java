package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.cli.wire.Frame;

/// The ring of blocks that a file copy sends its data through.
///
/// @param chunk the size of a block in bytes
/// @param depth the number of blocks
public record RingSize(int chunk, int depth) {
    private static final int MAX_CHUNK = 64 << 20;
    private static final int MAX_DEPTH = 1024;
    private static final long MAX_BYTES = 1L << 30;

    /// Checks the limits.
    ///
    /// @throws CommandFailure if the ring is too large or empty
    public RingSize {
        if (chunk < 1 || chunk > MAX_CHUNK || depth < 1 || depth > MAX_DEPTH || (long) chunk * depth > MAX_BYTES) {
            throw new CommandFailure("chunk size " + chunk + " with depth " + depth
                    + " is out of range: the chunk size can be 1 to 64M, the depth 1 to 1024, and both multiplied at"
                    + " most 1g");
        }
    }

    /// The size that a peer sent in its HELLO.
    ///
    /// @throws CommandFailure if the message is not a valid HELLO of this version
    static RingSize of(Frame<CopyMessage> hello) {
        if (hello.kind() != CopyMessage.HELLO || hello.number(0) != CopyMessage.VERSION) {
            throw CopyMessage.CODEC.protocolError();
        }
        return new RingSize(
                Math.clamp(hello.number(1), 0, Integer.MAX_VALUE), Math.clamp(hello.number(2), 0, Integer.MAX_VALUE));
    }

    /// The HELLO that announces this size.
    ///
    /// @param buffer the name of the receiver's buffer; empty in the sender's HELLO
    Frame<CopyMessage> toHello(String buffer) {
        return Frame.of(CopyMessage.HELLO, buffer, CopyMessage.VERSION, chunk, depth);
    }
}
