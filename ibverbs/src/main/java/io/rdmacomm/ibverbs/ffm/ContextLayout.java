package io.rdmacomm.ibverbs.ffm;

/// Byte offsets in an open device, `struct ibv_context`: its file descriptors, and the function pointers of verbs
/// that C programs inline, and that therefore have no symbol.
public final class ContextLayout {
    /// Size of the struct.
    public static final int BYTES = 288 + LibCLayout.MUTEX_BYTES;
    /// `ops.alloc_mw`.
    public static final int ALLOC_WINDOW = 64;
    /// `ops.bind_mw`.
    public static final int BIND_WINDOW = 72;
    /// `ops.dealloc_mw`.
    public static final int DEALLOC_WINDOW = 80;
    /// `ops.poll_cq`.
    public static final int POLL = 96;
    /// `ops.req_notify_cq`.
    public static final int REQUEST_NOTIFY = 104;
    /// `ops.post_srq_recv`.
    public static final int POST_SHARED_RECEIVE = 168;
    /// `ops.post_send`.
    public static final int POST_SEND = 208;
    /// `ops.post_recv`.
    public static final int POST_RECEIVE = 216;
    /// File descriptor of asynchronous events.
    public static final int ASYNC_FILE = 268;
    /// The number of completion vectors.
    public static final int COMPLETION_VECTORS = 272;
    /// Whether it is the end of a `struct verbs_context`, 8 bytes.
    public static final int ABI = 280 + LibCLayout.MUTEX_BYTES;
    /// Size of the `struct verbs_context`, before this struct; 8 bytes.
    public static final int EXTENDED_BYTES = -8;
    /// `query_device_ex` of the `struct verbs_context`.
    public static final int QUERY_DEVICE_EXTENDED = -104;
    /// `modify_cq` of the `struct verbs_context`.
    public static final int MODIFY_COMPLETION_QUEUE = -184;
    /// `query_port` of the `struct verbs_context`.
    public static final int QUERY_PORT_EXTENDED = -320;

    private ContextLayout() {}
}
