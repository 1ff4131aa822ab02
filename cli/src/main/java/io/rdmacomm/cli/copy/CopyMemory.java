package io.rdmacomm.cli.copy;

/// The memory that all senders of a receiver have together for their blocks. Each gets at most half of what is left, so
/// that there is something left for the next. Thread-safe.
public final class CopyMemory {
    private long left;

    /// So many bytes.
    public CopyMemory(long bytes) {
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

    /// Gives it back.
    synchronized void give(RingSize ring) {
        left += ring.bytes();
    }
}
