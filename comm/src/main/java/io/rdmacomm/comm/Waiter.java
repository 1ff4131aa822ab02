package io.rdmacomm.comm;

/// What a thread does that looks for completions and finds none: the one place where work modes differ.
@FunctionalInterface
interface Waiter {
    /// Called after every poll.
    ///
    /// @param polled how many completions it found
    /// @param maxNanos how long this call may take at the most
    void idle(int polled, long maxNanos);
}
