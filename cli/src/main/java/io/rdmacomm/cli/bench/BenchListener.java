package io.rdmacomm.cli.bench;

/// Told how a benchmark goes on.
public interface BenchListener {
    /// What the machine itself can do is known.
    ///
    void onFloor(MachineFloors floors);

    /// The next measurement begins.
    ///
    /// @param number counted from 1
    void onStart(int number, int count, BenchTest test, long bytes);

    /// A measurement has ended.
    void onResult(Result result);
}
