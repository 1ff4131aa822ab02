package io.rdmacomm.cli.bench.trial;

/// The CPU time of a step on both sides.
///
/// @param client on the client
/// @param server on the server
record StepUse(CpuUse client, CpuUse server) {
    static final StepUse NONE = new StepUse(CpuUse.NONE, CpuUse.NONE);

    /// The sum of both steps.
    StepUse plus(StepUse other) {
        return new StepUse(client.plus(other.client), server.plus(other.server));
    }

    /// The CPU time of both sides.
    long cpuNanos() {
        return client.cpuNanos() + server.cpuNanos();
    }

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
}
