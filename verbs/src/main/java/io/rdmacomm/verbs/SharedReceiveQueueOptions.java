package io.rdmacomm.verbs;

/// How a shared receive queue is created, and what querying it returns (`struct ibv_srq_attr`, ibv_create_srq(3)).
///
/// @param receives work requests it holds
/// @param elements scatter/gather elements of one receive
/// @param limit when fewer receives than this are left, [AsyncEventType#SHARED_RECEIVE_QUEUE_LIMIT_REACHED] is
///         raised once; 0 for never
public record SharedReceiveQueueOptions(int receives, int elements, int limit) {
    /// Checks the ranges.
    public SharedReceiveQueueOptions {
        Checks.range("shared receive queue depth", receives, 1, 1 << 20);
        Checks.range("scatter/gather elements of a receive", elements, 1, 256);
        Checks.range("shared receive queue limit", limit, 0, receives);
    }

    /// Room for `receives` receives of one element each, no limit armed.
    public static SharedReceiveQueueOptions ofDepth(int receives) {
        return new SharedReceiveQueueOptions(receives, 1, 0);
    }
}
