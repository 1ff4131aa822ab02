package io.rdmacomm.ibverbs;

/// Points in time by [System#nanoTime()].
final class Deadline {
    private Deadline() {}

    /// `nanos` from now; a wait for ever becomes one of 146 years, which does not overflow.
    static long after(long nanos) {
        return System.nanoTime() + Math.min(nanos, Long.MAX_VALUE / 2);
    }

    static long left(long deadline) {
        return deadline - System.nanoTime();
    }
}
