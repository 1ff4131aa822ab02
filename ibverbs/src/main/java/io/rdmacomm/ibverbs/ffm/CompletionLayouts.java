package io.rdmacomm.ibverbs.ffm;

/// Byte offsets in a completion queue, `struct ibv_cq`, a change of it, `struct ibv_modify_cq_attr`, a completion
/// channel, `struct ibv_comp_channel`, and an asynchronous event, `struct ibv_async_event`. A completion itself is in
/// [io.rdmacomm.verbs.spi.CompletionLayout].
public final class CompletionLayouts {
    /// Size of a completion queue.
    public static final int QUEUE_BYTES = 88 + LibCLayout.MUTEX_BYTES;
    /// In a completion queue: its capacity.
    public static final int QUEUE_CAPACITY = 28;

    /// Size of a completion channel.
    public static final int CHANNEL_BYTES = 16;
    /// In a completion channel: its file descriptor.
    public static final int CHANNEL_FILE = 8;

    /// Size of an asynchronous event.
    public static final int EVENT_BYTES = 16;
    /// In an asynchronous event: the object, a pointer, or the port, 4 bytes.
    public static final int EVENT_ELEMENT = 0;
    /// In an asynchronous event: `enum ibv_event_type`.
    public static final int EVENT_TYPE = 8;

    /// Size of a change of a completion queue.
    public static final int CHANGE_BYTES = 8;
    /// In a change: which attributes it has, 4 bytes.
    public static final int CHANGE_MASK = 0;
    /// In a change: completions for each event, 2 bytes.
    public static final int CHANGE_COMPLETIONS = 4;
    /// In a change: microseconds until an event, 2 bytes.
    public static final int CHANGE_PERIOD = 6;
    /// `IBV_CQ_ATTR_MODERATE`, the mask bit for both the completions and the period.
    public static final int MASK_MODERATE = 1;

    private CompletionLayouts() {}
}
