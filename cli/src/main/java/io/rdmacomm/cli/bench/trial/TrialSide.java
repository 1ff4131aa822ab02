package io.rdmacomm.cli.bench.trial;

/// The part of a step that client and server have in common. For one thread.
interface TrialSide {
    TrialPlan plan();

    /// Prepares a step of `count` operations.
    void prepare(StepMode mode, int count);

    /// Starts to measure the CPU time of this side.
    CpuMeter cpuMeter();

    /// Performs the initiator's part of a step; see [io.rdmacomm.cli.bench.trial.Workload#initiate].
    void initiate(StepMode mode, int count, Readings readings);

    /// Performs the other side's part of a step.
    void answer(StepMode mode, int count);

    /// Waits until all operations of both sides have taken effect, and after a warm-up step until the JIT compiler
    /// is idle. Both sides call this at the end of a step.
    void endStep(StepMode mode);

    /// Checks that no operation failed, and that the received data is correct.
    ///
    /// @param receives whether this side receives data in a one-way test
    /// @throws io.rdmacomm.cli.command.CommandFailure if the data is wrong
    void verify(StepMode mode, int count, boolean receives);
}
