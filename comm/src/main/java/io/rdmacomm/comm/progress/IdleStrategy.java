package io.rdmacomm.comm.progress;

/// What a polling thread does when it finds no completions: the one place where work modes differ.
@FunctionalInterface
public interface IdleStrategy {
    /// Called after every poll.
    ///
    /// @param polled how many completions the poll found
    /// @param maxNanos how long this call may take at most
    void idle(int polled, long maxNanos);
}
