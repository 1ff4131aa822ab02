package io.rdmacomm.cli.bench.trial;

/// The CPU time that a step took on both sides.
///
/// @param client on the client
/// @param server on the server
record StepUse(CpuUse client, CpuUse server) {
    static final StepUse NONE = new StepUse(CpuUse.NONE, CpuUse.NONE);

    /// Both steps together.
    StepUse plus(StepUse other) {
        return new StepUse(client.plus(other.client), server.plus(other.server));
    }

    /// The CPU time of both sides.
    long cpuNanos() {
        return client.cpuNanos() + server.cpuNanos();
    }
}
