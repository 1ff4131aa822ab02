package io.rdmacomm.cli.rig;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/// Closes something when no byte moves for too long, which ends every wait there. A blocking call of a channel has
/// no time-out of its own.
final class StallWatch implements AutoCloseable {
    /// The number of looks within the patience.
    private static final int LOOKS = 8;

    private final Closeable target;
    private final long patience;
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("stall-watch").factory());
    private final AtomicLong moves = new AtomicLong();
    private long seen;
    private long since = System.nanoTime();
    private volatile boolean stalled;

    /// @param patience the longest time without a move
    /// @param target what is closed then
    StallWatch(Duration patience, Closeable target) {
        this.target = target;
        this.patience = patience.toNanos();
        long period = Math.max(1, this.patience / LOOKS);
        var _ = thread.scheduleWithFixedDelay(this::look, period, period, TimeUnit.NANOSECONDS);
    }

    /// A byte has moved. For one thread.
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
        } else if (now - since >= patience && !stalled) {
            stalled = true;
            try {
                target.close();
            } catch (IOException _) {
                // The waits have ended all the same.
            }
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
