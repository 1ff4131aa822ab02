package io.rdmacomm.comm;

/// How the library waits for completions when there are none.
public enum WorkMode {
    /// Spins: the lowest latency, at the price of one processor for each thread that waits.
    POLLING,
    /// Spins for about 20 us, then arms the completion queue and sleeps until the device wakes it.
    ADAPTIVE
}
