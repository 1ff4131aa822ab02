package io.rdmacomm.comm.setup;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/// The pause before the next attempt to reach a busy or absent server: random, so that its clients do not all
/// retry together.
public final class RetryPause {
    private static final long SHORTEST_NANOS = 20_000_000;
    private static final long LONGEST_NANOS = 100_000_000;

    private RetryPause() {}

    /// Waits. An interrupt ends the wait, and its flag stays set.
    ///
    /// @param deadline the last moment, of [System#nanoTime()]
    /// @return false, at once, if the deadline comes first
    public static boolean before(long deadline) {
        long nanos = ThreadLocalRandom.current().nextLong(SHORTEST_NANOS, LONGEST_NANOS);
        if (deadline - System.nanoTime() <= nanos) {
            return false;
        }
        LockSupport.parkNanos(nanos);
        return true;
    }
}
