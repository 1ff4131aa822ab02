package io.rdmacomm.verbs;

/// Options of a shared receive queue, also returned by [SharedReceiveQueue#query()] (`struct ibv_srq_attr`,
/// ibv_create_srq(3)).
///
/// @param receives capacity in work requests
/// @param elements largest number of scatter/gather elements of a receive
/// @param limit [AsyncEventType#SHARED_RECEIVE_QUEUE_LIMIT_REACHED] is raised once when fewer receives are left; 0
///         for never
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
