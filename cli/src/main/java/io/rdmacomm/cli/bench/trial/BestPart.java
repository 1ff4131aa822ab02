package io.rdmacomm.cli.bench.trial;

import java.time.Duration;
import java.util.function.LongSupplier;

/// Repeats a short part of a measurement and takes the fastest time: the limit of a machine is its speed while
/// nothing disturbs it. Other programs interrupt some parts, so the measurement ends only when no part has been
/// faster for a while. Reads the clock between parts, never within.
///
/// @param unbeaten ends the measurement when no part has been faster for this long
/// @param most the longest measurement after the warm-up; the part that is then running still completes
/// @param compilers waits for the JIT compilers
/// @param clock the time in nanoseconds
record BestPart(Duration unbeaten, Duration most, Runnable compilers, LongSupplier clock) {
    private static final int WARM_UPS = 3;
    private static final long WARM_UP_NANOS = 10_000_000;
    /// If a few parts take this long, the machine is too busy to show its limits.
    private static final long LONGEST_WARM_UP_NANOS = 2_000_000_000;
    /// A part must be this much faster to count, so that noise does not prolong the measurement.
    private static final double FASTER = 0.99;

    /// Uses the clock and the compilers of this JVM.
    static BestPart within(Duration unbeaten, Duration most) {
        return new BestPart(unbeaten, most, CompilerTime::awaitIdle, System::nanoTime);
    }

    /// A part of a measurement.
    @FunctionalInterface
    interface Part<E extends Exception> {
        void run() throws E;
    }

    /// The time of the fastest part in nanoseconds. Blocks.
    <E extends Exception> long nanos(Part<E> part) throws E {
        long start = clock.getAsLong();
        for (int i = 0; i < WARM_UPS && clock.getAsLong() - start < LONGEST_WARM_UP_NANOS; i++) {
            long begin = clock.getAsLong();
            while (clock.getAsLong() - begin < WARM_UP_NANOS) {
                part.run();
            }
            compilers.run();
        }
        return fastest(part);
    }

    private <E extends Exception> long fastest(Part<E> part) throws E {
        long begin = clock.getAsLong();
        long before = begin;
        long best = Long.MAX_VALUE;
        long counted = Long.MAX_VALUE;
        long since = begin;
        while (before - since < unbeaten.toNanos() && before - begin < most.toNanos()) {
            part.run();
            long after = clock.getAsLong();
            best = Math.min(best, after - before);
            if (best < counted * FASTER) {
                counted = best;
                since = after;
            }
            before = after;
        }
        return best;
    }
}
