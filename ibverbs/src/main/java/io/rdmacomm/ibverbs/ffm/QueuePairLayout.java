package io.rdmacomm.ibverbs.ffm;

/// Byte offsets in a queue pair, `struct ibv_qp`, and in the struct for its creation, `struct ibv_qp_init_attr`
/// (ibv_create_qp(3)).
public final class QueuePairLayout {
    /// Size of a queue pair.
    public static final int BYTES = 120 + LibCLayout.MUTEX_BYTES;
    /// Its number.
    public static final int NUMBER = 52;

    /// Size of the struct for creation.
    public static final int INIT_BYTES = 64;
    /// In the struct for creation: the completion queue of sends, a pointer.
    public static final int INIT_SEND_COMPLETIONS = 8;
    /// In the struct for creation: the completion queue of receives, a pointer.
    public static final int INIT_RECEIVE_COMPLETIONS = 16;
    /// In the struct for creation: the shared receive queue, a pointer.
    public static final int INIT_SHARED_RECEIVES = 24;
    /// In the struct for creation: depth of the send queue.
    public static final int INIT_SENDS = 32;
    /// In the struct for creation: depth of the receive queue.
    public static final int INIT_RECEIVES = 36;
    /// In the struct for creation: elements of a send.
    public static final int INIT_SEND_ELEMENTS = 40;
    /// In the struct for creation: elements of a receive.
    public static final int INIT_RECEIVE_ELEMENTS = 44;
    /// In the struct for creation: inline bytes.
    public static final int INIT_INLINE = 48;
    /// In the struct for creation: `enum ibv_qp_type`.
    public static final int INIT_TYPE = 52;
    /// In the struct for creation: whether all sends are signaled.
    public static final int INIT_SIGNAL_ALL = 56;

    private QueuePairLayout() {}
}
