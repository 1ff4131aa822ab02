package io.rdmacomm.verbs;

/// A number that ibv_query_device(3) reports, under its C name.
public enum DeviceLimit {
    /// Longest memory region in bytes.
    MAX_REGION_SIZE("max_mr_size"),
    /// Page sizes the device can map, as a bit mask.
    PAGE_SIZES("page_size_cap"),
    /// Queue pairs.
    MAX_QUEUE_PAIRS("max_qp"),
    /// Outstanding work requests of one queue.
    MAX_QUEUE_PAIR_DEPTH("max_qp_wr"),
    /// Device capability flags of C, as a bit mask.
    CAPABILITY_FLAGS("device_cap_flags"),
    /// Scatter/gather elements of one request.
    MAX_SGE("max_sge"),
    /// Scatter/gather elements of one READ.
    MAX_SGE_READ("max_sge_rd"),
    /// Completion queues.
    MAX_COMPLETION_QUEUES("max_cq"),
    /// Entries of one completion queue.
    MAX_COMPLETION_QUEUE_DEPTH("max_cqe"),
    /// Memory regions.
    MAX_REGIONS("max_mr"),
    /// Protection domains.
    MAX_PROTECTION_DOMAINS("max_pd"),
    /// READs and atomics one queue pair can answer at a time.
    MAX_READ_ATOMIC("max_qp_rd_atom"),
    /// READs and atomics an end-to-end context can answer at a time.
    MAX_EE_READ_ATOMIC("max_ee_rd_atom"),
    /// READs and atomics the device can answer at a time.
    MAX_DEVICE_READ_ATOMIC("max_res_rd_atom"),
    /// READs and atomics one queue pair can have outstanding.
    MAX_INITIATOR_READ_ATOMIC("max_qp_init_rd_atom"),
    /// READs and atomics an end-to-end context can have outstanding.
    MAX_EE_INITIATOR_READ_ATOMIC("max_ee_init_rd_atom"),
    /// End-to-end contexts.
    MAX_EE_CONTEXTS("max_ee"),
    /// Reliable datagram domains.
    MAX_RELIABLE_DATAGRAM_DOMAINS("max_rdd"),
    /// Memory windows.
    MAX_WINDOWS("max_mw"),
    /// Raw IPv6 queue pairs.
    MAX_RAW_IPV6_QUEUE_PAIRS("max_raw_ipv6_qp"),
    /// Raw Ethernet queue pairs.
    MAX_RAW_ETHERNET_QUEUE_PAIRS("max_raw_ethy_qp"),
    /// Multicast groups.
    MAX_MULTICAST_GROUPS("max_mcast_grp"),
    /// Queue pairs in one multicast group.
    MAX_MULTICAST_ATTACH("max_mcast_qp_attach"),
    /// Queue pairs in all multicast groups.
    MAX_TOTAL_MULTICAST_ATTACH("max_total_mcast_qp_attach"),
    /// Address handles.
    MAX_ADDRESS_HANDLES("max_ah"),
    /// Fast memory regions.
    MAX_FAST_REGIONS("max_fmr"),
    /// Shared receive queues.
    MAX_SHARED_RECEIVE_QUEUES("max_srq"),
    /// Receives of one shared receive queue.
    MAX_SHARED_RECEIVE_QUEUE_DEPTH("max_srq_wr"),
    /// Scatter/gather elements of one shared receive.
    MAX_SHARED_RECEIVE_QUEUE_SGE("max_srq_sge"),
    /// Partition keys.
    MAX_PARTITION_KEYS("max_pkeys"),
    /// How long the device takes to acknowledge, as a code.
    LOCAL_ACK_DELAY("local_ca_ack_delay"),
    /// Bytes that can be sent inline.
    MAX_INLINE("max_inline_data"),
    /// Completion vectors.
    COMPLETION_VECTORS("num_comp_vectors");

    private final String cName;

    DeviceLimit(String cName) {
        this.cName = cName;
    }

    /// The name that ibv_devinfo(1) prints.
    public String cName() {
        return cName;
    }
}
