package io.rdmacomm.cli.bench.machine;

import io.rdmacomm.cli.bench.result.CpuUse;
import java.util.function.LongSupplier;

/// Measures the CPU time of this process from the meter's creation on.
public final class CpuMeter {
    private final LongSupplier clock;
    private final long begin = System.nanoTime();
    private final long cpuBegin;

    /// @param clock the CPU time so far, in nanoseconds
    public CpuMeter(LongSupplier clock) {
        this.clock = clock;
        this.cpuBegin = clock.getAsLong();
    }

    /// The CPU time up to now.
    public CpuUse read() {
        long nanos = System.nanoTime() - begin;
        // The time of a thread that has ended is no longer counted.
        return new CpuUse(Math.max(0, clock.getAsLong() - cpuBegin), nanos);
    }
}
