package io.rdmacomm.cli.bench.trial;

import java.lang.foreign.MemorySegment;
import java.time.Duration;

/// The speed at which one thread of this machine copies the kind of memory that the tests use: the limit for
/// anything that moves data through memory.
public final class CopyFloor {
    private static final BestPart PARTS = BestPart.within(Duration.ofMillis(60), Duration.ofMillis(500));
    private static final long PART_BYTES = 1 << 20;
    private static final int MOST_COPIES = 4096;

    private final MemorySegment memory;

    /// @param memory the source and the target of the copies, in its first and second half
    public CopyFloor(MemorySegment memory) {
        this.memory = memory;
    }

    /// The rate in 10^9 bits per second for copying `bytes` bytes around two rings of `buffers` buffers that start
    /// every `stride` bytes.
    public double gbps(long stride, long bytes, int buffers) {
        // At least once around the rings, so that each part finds the caches in the same state.
        int copies = Math.max(copies(bytes), buffers);
        return 8.0 * bytes * copies / PARTS.nanos(() -> copy(stride, bytes, buffers, copies));
    }

    /// The time of one copy in microseconds.
    public double micros(long bytes) {
        int copies = copies(bytes);
        return PARTS.nanos(() -> copy(0, bytes, 1, copies)) / 1000.0 / copies;
    }

    private static int copies(long bytes) {
        return Math.clamp(PART_BYTES / Math.max(bytes, 1), 1, MOST_COPIES);
    }

    private void copy(long stride, long bytes, int buffers, int copies) {
        long targets = memory.byteSize() / 2;
        int buffer = 0;
        for (int i = 0; i < copies; i++) {
            MemorySegment.copy(memory, buffer * stride, memory, targets + buffer * stride, bytes);
            buffer = buffer + 1 == buffers ? 0 : buffer + 1;
        }
    }
}
