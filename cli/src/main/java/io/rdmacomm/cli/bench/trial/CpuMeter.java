package io.rdmacomm.cli.bench.trial;

import java.util.function.LongSupplier;

/// Measures the CPU time of this process from the meter's creation on.
final class CpuMeter {
    private final LongSupplier clock;
    private final long begin = System.nanoTime();
    private final long cpuBegin;

    /// @param clock the CPU time so far, in nanoseconds
    CpuMeter(LongSupplier clock) {
        this.clock = clock;
        this.cpuBegin = clock.getAsLong();
    }

    /// The CPU time up to now.
    StepUse.CpuUse read() {
        long nanos = System.nanoTime() - begin;
        // The clock can decrease, because it no longer counts threads that have ended.
        return new StepUse.CpuUse(Math.max(0, clock.getAsLong() - cpuBegin), nanos);
    }
}
