package io.rdmacomm.cli.copy;

/// The memory for blocks that all senders of a receiver share. Each gets at most half of what is left, or one block
/// if that is more, so that some is left for the next. Thread-safe.
final class CopyMemory {
    private long left;

    /// Memory of this many bytes.
    CopyMemory(long bytes) {
        this.left = bytes;
    }

    /// Takes memory for a ring.
    ///
    /// @param wish the size that the sender wants
    /// @return the size that it gets
    /// @throws RejectedFileException if nothing is left
    synchronized RingSize take(RingSize wish) throws RejectedFileException {
        RingSize ring = wish.within(Math.max(left / 2, Math.min(left, wish.chunk())));
        left -= ring.bytes();
        return ring;
    }

    /// Returns the memory of a ring.
    synchronized void give(RingSize ring) {
        left += ring.bytes();
    }
}
