package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.rig.Frame;

/// The ring of blocks that a file copy sends its data through.
///
/// @param chunk the size of a block in bytes
/// @param depth the number of blocks
record RingSize(int chunk, int depth) {
    /// The limit for each sender.
    static final RingSize MOST = new RingSize(1 << 20, 64);

    private static final int MOST_BYTES = 16 << 20;

    /// Checks the limits.
    ///
    /// @throws CommandFailure if the ring is too large or empty
    RingSize {
        if (chunk < 1 || chunk > 1 << 20 || depth < 1 || depth > 64) {
            throw new CommandFailure("chunk size " + chunk + " with depth " + depth
                    + " is out of range: the chunk size can be 1 to 1M, and the depth 1 to 64");
        }
    }

    /// The total length of all blocks.
    long bytes() {
        return (long) chunk * depth;
    }

    /// This ring, with fewer blocks if it needs more than `bytes`.
    ///
    /// @throws RejectedFileException if there is no room for a single block
    RingSize within(long bytes) throws RejectedFileException {
        long fitting = Math.min(bytes, MOST_BYTES) / chunk;
        if (fitting < 1) {
            throw new RejectedFileException("its memory for senders is used up; try again when some of them"
                    + " are done, or raise --memory of `rdmacomm recv`");
        }
        return new RingSize(chunk, (int) Math.min(depth, fitting));
    }

    /// The size that the receiver has chosen, which must not exceed this one.
    ///
    /// @throws CommandFailure if it is larger
    RingSize chosen(Frame<CopyMessage> ring) {
        RingSize size = of(ring.number(0), ring.number(1));
        if (size.chunk > chunk || size.depth > depth) {
            throw CopyMessage.CODEC.protocolError();
        }
        return size;
    }

    /// The size with the numbers of a peer.
    ///
    /// @throws CommandFailure if it is too large or empty
    static RingSize of(long chunk, long depth) {
        return new RingSize(Math.clamp(chunk, 0, Integer.MAX_VALUE), Math.clamp(depth, 0, Integer.MAX_VALUE));
    }

    /// The RING that announces this size.
    ///
    /// @param buffer the name of the receiver's buffer; empty if there is none
    Frame<CopyMessage> toRing(String buffer) {
        return Frame.of(CopyMessage.RING, buffer, chunk, depth);
    }
}
