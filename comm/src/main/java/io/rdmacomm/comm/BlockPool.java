package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Bounds;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaInterruptedException;
import java.time.Duration;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The blocks of a buffer for any number of threads, which take one, use it, and give it back in any order.
/// Thread-safe. A program that uses a pool of a buffer must not also use its ring ([RdmaBuffer#next()]).
///
/// ```java
/// BlockPool pool = BlockPool.of(session.allocate(64 << 10, 32));
/// BufferSlice block = pool.take(Duration.ofSeconds(1));
/// channel.async().write(block, remote, 0).whenComplete((nothing, failure) -> pool.give(block));
/// ```
public final class BlockPool {
    private final RdmaBuffer buffer;
    // A monitor: threads that wait for a ReentrantLock allocate.
    private final Object lock = new Object();
    private final BitSet taken;
    // The free blocks. The one given back last is on top, because its memory is most likely in the cache.
    private final int[] free;
    private int count;

    private BlockPool(RdmaBuffer buffer) {
        this.buffer = buffer;
        this.count = buffer.blockCount();
        this.taken = new BitSet(count);
        this.free = new int[count];
        for (int i = 0; i < count; i++) {
            free[i] = count - 1 - i;
        }
    }

    /// All blocks of `buffer`, free.
    public static BlockPool of(RdmaBuffer buffer) {
        return new BlockPool(buffer);
    }

    /// Takes a block. Never blocks, allocates nothing.
    ///
    /// @return the block; null if all are taken
    public @Nullable BufferSlice tryTake() {
        synchronized (lock) {
            return count == 0 ? null : next();
        }
    }

    /// Takes a block, and waits for one if all are taken. Blocks. It does not poll: in thread mode CALLER, the only
    /// polling thread must not wait here for a block that a handler gives back.
    ///
    /// @param timeout how long to wait, 1 ms to 24 h
    /// @throws DeadlineException if none was given back in time
    /// @throws RdmaInterruptedException if the thread was interrupted
    public BufferSlice take(Duration timeout) {
        long end = System.nanoTime() + Bounds.timeout("timeout", timeout).toNanos();
        synchronized (lock) {
            while (count == 0) {
                long left = end - System.nanoTime();
                if (left <= 0) {
                    throw new DeadlineException(
                            "all " + free.length + " blocks of " + buffer + " were taken for " + timeout.toMillis()
                                    + " ms; give them back earlier, or allocate more",
                            null);
                }
                waitNanos(left);
            }
            return next();
        }
    }

    private void waitNanos(long nanos) {
        try {
            TimeUnit.NANOSECONDS.timedWait(lock, nanos);
        } catch (InterruptedException e) {
            throw Failures.interrupted("waiting for a block of " + buffer, e);
        }
    }

    /// Gives a block back. No operation may use it any more. Never blocks, allocates nothing.
    ///
    /// @throws IllegalArgumentException if it is not exactly a block of this buffer
    /// @throws IllegalStateException if it is not taken
    public void give(BufferSlice block) {
        int index = (int) Math.min(block.offset() / buffer.blockSize(), free.length - 1);
        if (!buffer.block(index).equals(block)) {
            throw new IllegalArgumentException(block + " is not a block of " + buffer);
        }
        synchronized (lock) {
            if (!taken.get(index)) {
                throw new IllegalStateException("block " + index + " of " + buffer + " was given back already");
            }
            taken.clear(index);
            free[count++] = index;
            lock.notify();
        }
    }

    /// The number of blocks that can be taken now.
    public int available() {
        synchronized (lock) {
            return count;
        }
    }

    private BufferSlice next() {
        int index = free[--count];
        taken.set(index);
        return buffer.block(index);
    }

    @Override
    public String toString() {
        return "pool of " + buffer;
    }
}
