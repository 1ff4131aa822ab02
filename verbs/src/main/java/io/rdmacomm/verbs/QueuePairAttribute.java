package io.rdmacomm.verbs;

/// An attribute that modifying a queue pair sets (`enum ibv_qp_attr_mask`, ibv_modify_qp(3)).
public enum QueuePairAttribute {
    /// The state to go to.
    STATE(0),
    /// The state the caller believes the queue pair to be in.
    CURRENT_STATE(1),
    /// Whether the end of draining raises an event.
    DRAIN_NOTIFICATION(2),
    /// What the peer may do through this queue pair.
    ACCESS_FLAGS(3),
    /// Index into the port's table of partition keys.
    PARTITION_KEY_INDEX(4),
    /// The local port.
    PORT(5),
    /// The key that datagrams must carry.
    QUEUE_KEY(6),
    /// The way to the peer.
    ADDRESS_VECTOR(7),
    /// The largest packet payload.
    PATH_MTU(8),
    /// How long an acknowledgement may take.
    TIMEOUT(9),
    /// How often an unanswered request is repeated.
    RETRY_COUNT(10),
    /// How often a request is repeated whose peer had no receive.
    RNR_RETRY(11),
    /// The first packet sequence number that is expected.
    RECEIVE_PSN(12),
    /// READs and atomics this side may have outstanding.
    MAX_READ_ATOMIC(13),
    /// An alternate way to the peer.
    ALTERNATE_PATH(14),
    /// How long the peer waits after it met no receive.
    MIN_RNR_TIMER(15),
    /// The first packet sequence number that is sent.
    SEND_PSN(16),
    /// READs and atomics the peer may have outstanding.
    MAX_DESTINATION_READ_ATOMIC(17),
    /// Path migration state.
    PATH_MIGRATION(18),
    /// The queue sizes.
    CAPACITY(19),
    /// The peer's queue pair number.
    DESTINATION_NUMBER(20);

    private final int bit;

    QueuePairAttribute(int position) {
        this.bit = 1 << position;
    }

    /// The bit that C programs see.
    public int bit() {
        return bit;
    }
}
