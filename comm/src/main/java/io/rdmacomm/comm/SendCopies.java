package io.rdmacomm.comm;

import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// The memory of a channel for messages that a program sends without a buffer of its own: a ring of blocks, each as
/// long as the longest message. It is allocated when it is first needed. Operations of a channel end in the order
/// in which they start, so their blocks become free in that order.
final class SendCopies implements AutoCloseable {
    private static final int ABOUT_BYTES = 256 << 10;
    private static final int MOST_BLOCKS = 16;

    private final Memory memory;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile @Nullable RdmaBuffer ring;
    private boolean closed;
    // A block that was taken for an operation that never started. Under the send lock.
    private @Nullable BufferSlice spare;

    /// Registered memory of `count` blocks of `bytes`.
    @FunctionalInterface
    interface Memory {
        RdmaBuffer allocate(int bytes, int count);
    }

    SendCopies(Memory memory) {
        this.memory = memory;
    }

    /// Allocates the memory if there is none. For any thread.
    ///
    /// @param longest the longest message in bytes
    /// @throws io.rdmacomm.verbs.VerbException if there is no room
    /// @throws ClosedException if the channel was closed
    void prepare(int longest) {
        if (ring != null) {
            return;
        }
        lock.lock();
        try {
            if (closed) {
                throw new ClosedException("the channel is closed", null);
            }
            if (ring == null) {
                int block = Math.max(1, longest);
                ring = memory.allocate(block, Math.clamp(ABOUT_BYTES / block, 1, MOST_BLOCKS));
            }
        } finally {
            lock.unlock();
        }
    }

    /// Takes a block, under the send lock; null if all are in use.
    @Nullable
    BufferSlice take() {
        RdmaBuffer blocks = ring;
        BufferSlice block = spare;
        spare = null;
        return block != null || blocks == null ? block : blocks.next();
    }

    /// Returns the block that was taken last, which no operation uses. Under the send lock.
    void putBack(BufferSlice block) {
        spare = block;
    }

    /// The oldest operation with a block has ended. On the polling thread.
    void release() {
        RdmaBuffer blocks = ring;
        if (blocks != null) {
            var _ = blocks.release();
        }
    }

    /// Frees the memory. All operations have ended.
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            RdmaBuffer blocks = ring;
            if (blocks != null) {
                blocks.close();
            }
        } finally {
            lock.unlock();
        }
    }
}
