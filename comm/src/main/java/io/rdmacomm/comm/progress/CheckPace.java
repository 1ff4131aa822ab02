package io.rdmacomm.comm.progress;

/// Decides how often to check a condition that raises no event, such as credits: at first every 100 us, then less
/// and less often, so that many starved channels do not take the processor from the threads that they wait for. A
/// check is late by at most a quarter of the time waited, and by at most 5 ms.
final class CheckPace {
    static final long SHORTEST_NANOS = 100_000;
    static final long LONGEST_NANOS = 5_000_000;
    private static final int PART = 4;

    // 0 while nothing waits. The polling and the sleeping thread may be different.
    private volatile long since;

    /// A condition holds: starts over.
    void restart() {
        if (since != 0) {
            since = 0;
        }
    }

    /// How long to sleep until the next check.
    ///
    /// @param now of [System#nanoTime()]
    long nextNanos(long now) {
        long begin = since;
        if (begin == 0) {
            since = now | 1;
            return SHORTEST_NANOS;
        }
        return Math.clamp((now - begin) / PART, SHORTEST_NANOS, LONGEST_NANOS);
    }
}
