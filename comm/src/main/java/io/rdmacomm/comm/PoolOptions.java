package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Bounds;
import java.time.Duration;

/// The limit of a [BufferPool], and the time for which it keeps free memory. Immutable.
public final class PoolOptions extends ValueObject<PoolOptions.Values> {
    private static final long CHUNK = 4 << 20;
    private static final Duration IDLE = Duration.ofSeconds(10);

    record Values(long limit, long chunkBytes, Duration idle) {}

    private PoolOptions(Values values) {
        super(values);
    }

    /// A pool that registers 4 MiB at a time, and gives back memory that has been free for 10 seconds.
    ///
    /// @param limit the most bytes that it registers, and so the longest piece; 64 to 2^60
    /// @throws IllegalArgumentException if it is out of its range
    public static PoolOptions of(long limit) {
        Bounds.range("limit of a pool", limit, PieceSizes.SMALLEST, 1L << 60);
        return new PoolOptions(new Values(limit, CHUNK, IDLE));
    }

    /// The most bytes that the pool registers.
    public long limit() {
        return values.limit;
    }

    /// The bytes that the pool registers at a time, if the limit leaves so many. A piece longer than a quarter
    /// of this may get memory that is registered for it alone.
    public long chunkBytes() {
        return values.chunkBytes;
    }

    /// The time for which memory must have been free before the pool gives it back. The pool looks once in this time,
    /// so it gives memory back after one to two times as long.
    public Duration idle() {
        return values.idle;
    }

    /// These options with another number of bytes that are registered at a time. Registering takes time: on
    /// adapters for each page, on the software device for a file.
    ///
    /// @param value 4 KiB to 2^60
    /// @throws IllegalArgumentException if it is out of its range
    public PoolOptions withChunkBytes(long value) {
        Bounds.range("chunk bytes of a pool", value, 4096, 1L << 60);
        return new PoolOptions(new Values(values.limit, value, values.idle));
    }

    /// These options with another time after which free memory is given back.
    ///
    /// @param value 1 ms to 24 h
    /// @throws IllegalArgumentException if it is out of its range
    public PoolOptions withIdle(Duration value) {
        Bounds.timeout("idle time of a pool", value);
        return new PoolOptions(new Values(values.limit, values.chunkBytes, value));
    }
}
