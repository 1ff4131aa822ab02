package io.rdmacomm.cli.bench.machine;

import io.rdmacomm.cli.bench.result.LatencySamples;
import java.lang.foreign.MemorySegment;

/// The speed at which one thread of this machine copies the kind of memory that the tests use: the limit for anything
/// that moves data through memory.
public final class CopyFloor {
    private static final long WARM_UP_NANOS = 10_000_000;
    private static final long NANOS = 30_000_000;
    private static final int SAMPLES = 20_001;
    private static final long BATCH_BYTES = 1 << 20;

    private final MemorySegment memory;

    /// @param memory the source and the target of the copies, in its first and second half
    public CopyFloor(MemorySegment memory) {
        this.memory = memory;
    }

    /// The rate in 10^9 bits per second for copying `bytes` bytes around two rings of `buffers` buffers that start
    /// every `stride` bytes.
    public double gbps(long stride, long bytes, int buffers) {
        copyFor(WARM_UP_NANOS, stride, bytes, buffers);
        double best = 0;
        for (int i = 0; i < 3; i++) {
            best = Math.max(best, copyFor(NANOS / 3, stride, bytes, buffers));
        }
        return best;
    }

    private double copyFor(long nanos, long stride, long bytes, int buffers) {
        long targets = memory.byteSize() / 2;
        int batch = Math.clamp(BATCH_BYTES / bytes, 1, 4096);
        long copies = 0;
        int buffer = 0;
        long begin = System.nanoTime();
        long now = begin;
        while (now - begin < nanos) {
            for (int i = 0; i < batch; i++) {
                MemorySegment.copy(memory, buffer * stride, memory, targets + buffer * stride, bytes);
                buffer = buffer + 1 == buffers ? 0 : buffer + 1;
            }
            copies += batch;
            now = System.nanoTime();
        }
        return 8.0 * bytes * copies / (now - begin);
    }

    /// The median time of one copy in microseconds. Measured like the tests, with one clock reading per copy.
    public double medianMicros(long bytes) {
        long targets = memory.byteSize() / 2;
        int count = Math.clamp(NANOS * 10 / Math.max(bytes, 1), 100, SAMPLES - 1);
        long[] readings = new long[SAMPLES];
        LatencySamples samples = new LatencySamples(1);
        for (int round = 0; round < 2; round++) {
            samples = new LatencySamples(1);
            readings[0] = System.nanoTime();
            for (int i = 1; i <= count; i++) {
                MemorySegment.copy(memory, 0, memory, targets, bytes);
                readings[i] = System.nanoTime();
            }
            samples.add(readings, count);
        }
        return samples.percentileMicros(50);
    }
}
