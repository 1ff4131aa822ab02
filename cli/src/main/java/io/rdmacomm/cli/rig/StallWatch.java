package io.rdmacomm.cli.rig;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/// Closes a resource when no byte has moved for too long, because blocking calls of a channel have no timeout. That
/// ends every wait on it.
final class StallWatch implements AutoCloseable {
    /// The number of checks within the timeout.
    private static final int LOOKS = 8;

    private final Closeable target;
    private final long timeout;
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("stall-watch").factory());
    private final AtomicLong moves = new AtomicLong();
    private long seen;
    private long since = System.nanoTime();
    private volatile boolean stalled;

    /// @param timeout the longest time in which no byte moves
    /// @param target the resource
    StallWatch(Duration timeout, Closeable target) {
        this.target = target;
        this.timeout = timeout.toNanos();
        long period = Math.max(1, this.timeout / LOOKS);
        var _ = thread.scheduleWithFixedDelay(this::look, period, period, TimeUnit.NANOSECONDS);
    }

    /// Reports that a byte has moved. For one thread.
    void moved() {
        moves.lazySet(moves.getPlain() + 1);
    }

    /// Whether the target was closed.
    boolean hasStalled() {
        return stalled;
    }

    private void look() {
        long now = System.nanoTime();
        if (moves.get() != seen) {
            seen = moves.get();
            since = now;
        } else if (now - since >= timeout && !stalled) {
            stalled = true;
            try {
                target.close();
            } catch (IOException _) {
                // The waits have ended in any case.
            }
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
