package io.rdmacomm.ibverbs.structs;

/// Points in time by [System#nanoTime()].
public final class Deadline {
    private Deadline() {}

    /// The time in `nanos`. An unlimited wait becomes one of 146 years, which does not overflow.
    public static long after(long nanos) {
        return System.nanoTime() + Math.min(nanos, Long.MAX_VALUE / 2);
    }

    public static long left(long deadline) {
        return deadline - System.nanoTime();
    }
}
