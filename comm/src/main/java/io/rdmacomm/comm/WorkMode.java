package io.rdmacomm.comm;

/// How a thread waits when there are no completions.
public enum WorkMode {
    /// Spins: the lowest latency, and one processor for each thread that waits.
    POLLING,
    /// Arms the completion queue and sleeps until the device wakes it: the least CPU time, and the latency of a
    /// wake-up for each message.
    COMPLETION_CHANNEL,
    /// The same, but one thread waits for all data channels of a session, whatever the thread mode: for many
    /// channels with few busy ones.
    EPOLL,
    /// Spins for about 20 us, then arms the completion queue and sleeps until the device wakes it.
    ADAPTIVE
}
