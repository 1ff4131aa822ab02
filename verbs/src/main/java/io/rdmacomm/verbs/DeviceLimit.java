package io.rdmacomm.verbs;

/// A number that ibv_query_device(3) reports. Those from [#ODP_CAPABILITIES] on come from ibv_query_device_ex(3),
/// which not every provider and driver supports.
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
    /// The device's acknowledgement delay, as a code.
    LOCAL_ACK_DELAY("local_ca_ack_delay"),
    /// Bytes that can be sent inline.
    MAX_INLINE("max_inline_data"),
    /// Completion vectors.
    COMPLETION_VECTORS("num_comp_vectors"),
    /// On-demand paging: bit 0 for support, bit 1 for registering a whole address space.
    ODP_CAPABILITIES("general_odp_caps"),
    /// Operations of RC queue pairs on memory paged on demand, as a bit mask.
    ODP_RELIABLE("rc_odp_caps"),
    /// The same for UC queue pairs.
    ODP_UNRELIABLE("uc_odp_caps"),
    /// The same for UD queue pairs.
    ODP_DATAGRAM("ud_odp_caps"),
    /// The same for XRC queue pairs.
    ODP_EXTENDED_RELIABLE("xrc_odp_caps"),
    /// The valid bits of a completion's time stamp; 0 if completions have none.
    TIMESTAMP_MASK("completion_timestamp_mask"),
    /// Frequency of the time stamp clock in kHz; 0 if there is none.
    CORE_CLOCK("hca_core_clock"),
    /// Offloads of raw packet queue pairs, as a bit mask.
    RAW_PACKET_CAPABILITIES("raw_packet_caps"),
    /// Device capability flags of C, all 64 bits.
    EXTENDED_CAPABILITY_FLAGS("device_cap_flags_ex"),
    /// Longest message in bytes that the device segments for TCP; 0 if it does not.
    MAX_SEGMENTATION("max_tso"),
    /// Types of queue pairs with this offload, one bit for each code.
    SEGMENTATION_TYPES("supported_qp"),
    /// Tables that spread packets over receive queues (RSS).
    MAX_SPREADING_TABLES("max_rwq_indirection_tables"),
    /// Receive queues in such a table.
    MAX_SPREADING_TABLE_SIZE("max_rwq_indirection_table_size"),
    /// Hash functions for spreading, as a bit mask.
    HASH_FUNCTIONS("rx_hash_function"),
    /// Parts of a packet that can be hashed, as a bit mask.
    HASH_FIELDS("rx_hash_fields_mask"),
    /// Types of queue pairs that can be spread, one bit for each code.
    SPREADING_TYPES("supported_qp"),
    /// Receive work queues without a queue pair.
    MAX_RECEIVE_WORK_QUEUES("max_wq_type_rq"),
    /// Lowest limit of a queue pair's rate in kbit/s.
    MIN_RATE_LIMIT("qp_rate_limit_min"),
    /// Highest limit of a queue pair's rate in kbit/s; 0 if rates cannot be limited.
    MAX_RATE_LIMIT("qp_rate_limit_max"),
    /// Types of queue pairs whose rate can be limited, one bit for each code.
    RATE_LIMIT_TYPES("supported_qp"),
    /// Longest header of a rendezvous request in bytes.
    MAX_RENDEZVOUS_HEADER("max_rndv_hdr_size"),
    /// Tagged buffers of a shared receive queue; 0 without tag matching.
    MAX_TAGS("max_num_tags"),
    /// Outstanding changes of a list of tagged buffers.
    MAX_TAG_OPERATIONS("max_ops"),
    /// Scatter/gather elements of a tagged buffer.
    MAX_TAG_SGE("max_sge"),
    /// Features of tag matching, as a bit mask.
    TAG_FLAGS("flags"),
    /// Most completions per event with moderation; 0 if events cannot be moderated.
    MAX_MODERATED_COMPLETIONS("max_cq_count"),
    /// Longest moderation period in microseconds.
    MAX_MODERATION_PERIOD("max_cq_period"),
    /// Size of the device's own memory in bytes.
    MAX_DEVICE_MEMORY("max_dm_size");

    private final String cName;

    DeviceLimit(String cName) {
        this.cName = cName;
    }

    /// The name that ibv_devinfo(1) prints.
    public String cName() {
        return cName;
    }
}
