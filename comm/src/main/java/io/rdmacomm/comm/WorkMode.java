package io.rdmacomm.comm;

/// How the library waits for completions when there are none.
public enum WorkMode {
    /// Spins: the lowest latency, at the price of one processor for each thread that waits.
    POLLING,
    /// Arms the completion queue and sleeps until the device wakes it: the least processor time, and the
    /// latency of a wake-up for each message.
    COMPLETION_CHANNEL,
    /// The same with one thread that waits for all data channels of a session, whatever the thread mode: for
    /// many channels of which few are busy.
    EPOLL,
    /// Spins for about 20 us, then arms the completion queue and sleeps until the device wakes it.
    ADAPTIVE
}
