package io.rdmacomm.ibverbs.ffm;

/// Byte offsets in the attributes of a queue pair, `struct ibv_qp_attr` (ibv_modify_qp(3)).
public final class QueuePairAttributesLayout {
    /// Size of the struct.
    public static final int BYTES = 144;
    /// `enum ibv_qp_state`.
    public static final int STATE = 0;
    /// `enum ibv_qp_state`.
    public static final int CURRENT_STATE = 4;
    /// `enum ibv_mtu`.
    public static final int PATH_MTU = 8;
    /// Queue key.
    public static final int QUEUE_KEY = 16;
    /// First packet sequence number expected.
    public static final int RECEIVE_PSN = 20;
    /// First packet sequence number sent.
    public static final int SEND_PSN = 24;
    /// The peer's queue pair number.
    public static final int DESTINATION_NUMBER = 28;
    /// The access rights of the peer.
    public static final int ACCESS_FLAGS = 32;
    /// The queue sizes, `struct ibv_qp_cap`, as from [QueuePairLayout#INIT_SENDS] on in the struct for creation.
    public static final int CAPACITY = 36;
    /// The path to the peer, see [AddressVectorLayout].
    public static final int ADDRESS_VECTOR = 56;
    /// Partition key index, 2 bytes.
    public static final int PARTITION_KEY_INDEX = 120;
    /// Whether draining raises an event, 1 byte.
    public static final int DRAIN_NOTIFICATION = 124;
    /// Whether it is draining, 1 byte.
    public static final int DRAINING = 125;
    /// READs and atomics of this side, 1 byte.
    public static final int MAX_READ_ATOMIC = 126;
    /// READs and atomics of the peer, 1 byte.
    public static final int MAX_DESTINATION_READ_ATOMIC = 127;
    /// Receiver-not-ready timer, 1 byte.
    public static final int MIN_RNR_TIMER = 128;
    /// Port, 1 byte.
    public static final int PORT = 129;
    /// Timeout, 1 byte.
    public static final int TIMEOUT = 130;
    /// Retries, 1 byte.
    public static final int RETRY_COUNT = 131;
    /// Receiver-not-ready retries, 1 byte.
    public static final int RNR_RETRY = 132;

    private QueuePairAttributesLayout() {}
}
