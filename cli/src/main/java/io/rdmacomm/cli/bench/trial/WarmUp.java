package io.rdmacomm.cli.bench.trial;

/// Decides when a warm-up is over: after its time, not counting waits for the JIT compilers, and once the compilers
/// have been idle for a while; at the latest after ten times as long.
public final class WarmUp {
    private static final long SETTLED_NANOS = 250_000_000;
    private static final long SETTLED_COMPILER_NANOS = 5_000_000;
    private static final int MAX_FACTOR = 10;

    private final long nanos;
    private final long begin = System.nanoTime();
    private long settledSince = begin;
    private long compilerNanos;
    private long worked;

    /// A warm-up begins.
    ///
    /// @param nanos the time of the warm-up
    /// @param compilerNanos the CPU time of the compilers of all sides so far
    public WarmUp(long nanos, long compilerNanos) {
        this.nanos = nanos;
        this.compilerNanos = compilerNanos;
    }

    /// A step has ended.
    ///
    /// @param stepNanos how long it took
    /// @param compilerNow the CPU time of the compilers of all sides so far
    /// @return whether it was the last step
    public boolean isOverAfter(long stepNanos, long compilerNow) {
        worked += stepNanos;
        long now = System.nanoTime();
        if (Math.abs(compilerNow - compilerNanos) > SETTLED_COMPILER_NANOS) {
            compilerNanos = compilerNow;
            settledSince = now;
        }
        boolean settled = worked >= nanos && now - settledSince >= SETTLED_NANOS;
        return settled || now - begin >= MAX_FACTOR * nanos;
    }
}
