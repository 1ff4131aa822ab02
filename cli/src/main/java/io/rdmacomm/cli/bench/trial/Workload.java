package io.rdmacomm.cli.bench.trial;

/// The operations of one test, for both sides. The benchmark measures these loops, which allocate and log nothing.
interface Workload {
    /// Resets the state for a step. Both sides call this before every step.
    default void prepare() {}

    /// Performs `count` operations. Records in `readings` when the first one begins and the last one ends; a
    /// latency test also records when each one ends.
    void initiate(int count, Readings readings);

    /// Performs the other side's part of the initiator's `count` operations. Does nothing if there is no such part.
    default void answer(int count) {}

    /// Describes what is wrong with the data that this side received in `count` operations; empty if it is correct.
    String findCorruption(int count);
}
