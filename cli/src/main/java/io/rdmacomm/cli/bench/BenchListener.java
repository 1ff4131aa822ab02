package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.bench.trial.MachineFloors;
import io.rdmacomm.cli.bench.trial.Result;
import io.rdmacomm.cli.bench.trial.TrialPlan;

/// Follows the progress of a benchmark.
public interface BenchListener {
    /// The limits of the machines are known.
    void onFloors(MachineFloors floors);

    /// A measurement begins.
    ///
    /// @param number its number, from 1
    /// @param count the number of measurements
    void onStart(int number, int count, TrialPlan plan);

    /// A measurement is complete.
    void onResult(Result result);
}
