package io.rdmacomm.cli.bench.trial;

/// The CPU time that a process used over a period, both in nanoseconds.
///
/// @param cpuNanos the CPU time
/// @param nanos the length of the period
record CpuUse(long cpuNanos, long nanos) {
    static final CpuUse NONE = new CpuUse(0, 0);

    /// The CPU time over both periods.
    CpuUse plus(CpuUse other) {
        return new CpuUse(cpuNanos + other.cpuNanos, nanos + other.nanos);
    }

    /// The CPU time in percent of the period: 100 if the process kept one core busy.
    double percent() {
        return nanos == 0 ? 0 : 100.0 * cpuNanos / nanos;
    }
}
