package io.rdmacomm.comm.progress;

/// How often to look for something that has no event, such as credits: at first every 100 us, then the less
/// often the longer nothing comes, so that many starved channels do not take the processor from those that they
/// wait for. A look is late by at most a quarter of the time waited, and by at most 5 ms.
final class LookPace {
    static final long SHORTEST_NANOS = 100_000;
    static final long LONGEST_NANOS = 5_000_000;
    private static final int PART = 4;

    // 0 while nobody waits. The thread that polls and the one that sleeps may be two.
    private volatile long since;

    /// Something has come.
    void restart() {
        if (since != 0) {
            since = 0;
        }
    }

    /// How long to sleep until the next look.
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
