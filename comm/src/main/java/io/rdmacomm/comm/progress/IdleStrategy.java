package io.rdmacomm.comm.progress;

/// The behavior of a polling thread that finds no completions: the only place where work modes differ.
@FunctionalInterface
public interface IdleStrategy {
    /// Called after every poll.
    ///
    /// @param polled how many completions the poll found
    /// @param maxNanos the longest time for this call
    void idle(int polled, long maxNanos);
}
