package io.rdmacomm.verbs;

/// An attribute of a queue pair (`enum ibv_qp_attr_mask`, ibv_modify_qp(3)).
public enum QueuePairAttribute {
    /// The new state.
    STATE(0),
    /// The state that the caller assumes the queue pair is in.
    CURRENT_STATE(1),
    /// Whether an event reports that the send queue is drained.
    DRAIN_NOTIFICATION(2),
    /// The rights of the peer through this queue pair.
    ACCESS_FLAGS(3),
    /// Index into the port's table of partition keys.
    PARTITION_KEY_INDEX(4),
    /// The local port.
    PORT(5),
    /// The key that incoming datagrams must carry.
    QUEUE_KEY(6),
    /// The path to the peer.
    ADDRESS_VECTOR(7),
    /// The largest packet payload.
    PATH_MTU(8),
    /// The acknowledgement timeout.
    TIMEOUT(9),
    /// How often an unacknowledged request is retried.
    RETRY_COUNT(10),
    /// How often a message that found no receive is retried.
    RNR_RETRY(11),
    /// The first packet sequence number to expect.
    RECEIVE_PSN(12),
    /// The number of READs and atomics that this side may have in flight.
    MAX_READ_ATOMIC(13),
    /// An alternate path to the peer.
    ALTERNATE_PATH(14),
    /// How long the peer waits before it retries a message that found no receive.
    MIN_RNR_TIMER(15),
    /// The first packet sequence number to send.
    SEND_PSN(16),
    /// The number of READs and atomics that the peer may have in flight.
    MAX_DESTINATION_READ_ATOMIC(17),
    /// The path migration state.
    PATH_MIGRATION(18),
    /// The queue sizes.
    CAPACITY(19),
    /// The peer's queue pair number.
    DESTINATION_NUMBER(20);

    private final int bit;

    QueuePairAttribute(int position) {
        this.bit = 1 << position;
    }

    /// The bit in the C API.
    public int bit() {
        return bit;
    }
}
