package io.rdmacomm.ibverbs.ffm;

/// Byte offsets in an event of the connection manager, `struct rdma_cm_event` (rdma_get_cm_event(3)), and in the
/// parameters of a connection, `struct rdma_conn_param` (rdma_connect(3)).
public final class ConnectionEventLayout {
    /// Size of an event.
    public static final int BYTES = 80;
    /// The identifier of the event, a pointer; a new one for a request.
    public static final int IDENTIFIER = 0;
    /// The listening identifier of a request, a pointer.
    public static final int LISTENER = 8;
    /// `enum rdma_cm_event_type`.
    public static final int TYPE = 16;
    /// 0, a negative errno, or the reason of a rejection.
    public static final int STATUS = 20;
    /// The parameters of the connection.
    public static final int PARAMETERS = 24;

    /// Size of the parameters.
    public static final int PARAMETERS_BYTES = 24;
    /// In the parameters: the private data, a pointer.
    public static final int PRIVATE_DATA = 0;
    /// In the parameters: how many bytes of private data there are, 1 byte.
    public static final int PRIVATE_DATA_LENGTH = 8;
    /// In the parameters: the peer's READs and atomics that this side answers at a time, 1 byte.
    public static final int RESPONDER_RESOURCES = 9;
    /// In the parameters: READs and atomics of this side, 1 byte.
    public static final int INITIATOR_DEPTH = 10;
    /// In the parameters: retries, 1 byte.
    public static final int RETRY_COUNT = 12;
    /// In the parameters: receiver-not-ready retries, 1 byte.
    public static final int RNR_RETRY = 13;
    /// In the parameters: whether the queue pair has a shared receive queue, 1 byte.
    public static final int SHARED_RECEIVES = 14;
    /// In the parameters: the number of the queue pair.
    public static final int QUEUE_PAIR_NUMBER = 16;

    /// In the parameters of a datagram event (`struct rdma_ud_param`): the path, a `struct ibv_ah_attr`.
    public static final int PATH = 16;
    /// In the parameters of a datagram event: the number of the peer's queue pair.
    public static final int DATAGRAM_QUEUE_PAIR_NUMBER = 48;
    /// In the parameters of a datagram event: the queue key.
    public static final int QUEUE_KEY = 52;

    private ConnectionEventLayout() {}
}
