package io.rdmacomm.comm;

/// The threads that poll for completions and run handlers.
public enum ThreadMode {
    /// Each data channel has its own completion queue and library thread. In work mode [WorkMode#EPOLL], one
    /// library thread serves them all.
    PER_QUEUE_PAIR,
    /// All data channels of a session share one completion queue and one library thread, or as many of both as
    /// [SessionOptions#withCompletionThreads] sets.
    SHARED_CQ,
    /// No library thread touches the data channels: the threads that call [RdmaChannel#poll()] or
    /// [Session#poll()] make progress, and so do blocking calls. This has the lowest latency where processors
    /// are few. Handlers run on the polling thread; while an endpoint is being closed, that may be the closing
    /// thread.
    CALLER
}
