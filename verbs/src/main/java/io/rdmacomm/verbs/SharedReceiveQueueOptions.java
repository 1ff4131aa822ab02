package io.rdmacomm.verbs;

import org.jspecify.annotations.Nullable;

/// Options of a shared receive queue, also returned by [SharedReceiveQueue#query()] (`struct ibv_srq_attr`,
/// ibv_create_srq(3)). Immutable.
public final class SharedReceiveQueueOptions extends ValueObject<SharedReceiveQueueOptions> {
    private int receives;
    private int elements = 1;
    private int limit;

    private SharedReceiveQueueOptions() {}

    /// Room for `receives` receives of one element each, no limit armed.
    public static SharedReceiveQueueOptions ofDepth(int receives) {
        return new SharedReceiveQueueOptions().with(copy -> copy.receives = receives);
    }

    /// These options with another capacity in work requests.
    public SharedReceiveQueueOptions withDepth(int value) {
        return with(copy -> copy.receives = value);
    }

    /// These options with another largest number of scatter/gather elements.
    public SharedReceiveQueueOptions withElements(int value) {
        return with(copy -> copy.elements = value);
    }

    /// These options with a limit; see [#limit()].
    public SharedReceiveQueueOptions withLimit(int value) {
        return with(copy -> copy.limit = value);
    }

    /// Capacity in work requests.
    public int receives() {
        return receives;
    }

    /// Largest number of scatter/gather elements of a receive.
    public int elements() {
        return elements;
    }

    /// [AsyncEventType#SHARED_RECEIVE_QUEUE_LIMIT_REACHED] is raised once when fewer receives are left; 0 for never.
    public int limit() {
        return limit;
    }

    @Override
    void check() {
        Checks.range("shared receive queue depth", receives, 1, 1 << 20);
        Checks.range("scatter/gather elements of a receive", elements, 1, 256);
        Checks.range("shared receive queue limit", limit, 0, receives);
    }

    @Override
    @Nullable
    Object[] fields() {
        return new Object[] {"receives", receives, "elements", elements, "limit", limit};
    }
}
