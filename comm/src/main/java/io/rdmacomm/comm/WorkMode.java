package io.rdmacomm.comm;

/// How a thread waits when there are no completions.
public enum WorkMode {
    /// Spins: the lowest latency, and one processor for each thread that waits.
    POLLING,
    /// Arms the completion queue and sleeps until the device wakes it: the least CPU time, and the latency of a
    /// wake-up for each message.
    COMPLETION_CHANNEL,
    /// Sleeps like [#COMPLETION_CHANNEL]. In thread mode [ThreadMode#PER_QUEUE_PAIR], one library thread serves all
    /// data channels of a session: for many channels of which few are busy. In the other thread modes there is no
    /// difference.
    EPOLL,
    /// Spins for about 20 us, then arms the completion queue and sleeps until the device wakes it.
    ADAPTIVE
}
