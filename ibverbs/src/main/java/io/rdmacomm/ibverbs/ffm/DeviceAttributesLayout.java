package io.rdmacomm.ibverbs.ffm;

/// Byte offsets in what a device says of itself, `struct ibv_device_attr` (ibv_query_device(3)).
public final class DeviceAttributesLayout {
    /// Size of the struct.
    public static final int BYTES = 232;
    /// Firmware version, a string.
    public static final int FIRMWARE = 0;
    /// Size of the firmware version.
    public static final int FIRMWARE_BYTES = 64;
    /// Node GUID, 8 bytes in network order.
    public static final int NODE_GUID = 64;
    /// System image GUID, 8 bytes in network order.
    public static final int SYSTEM_IMAGE_GUID = 72;
    /// Longest region, 8 bytes.
    public static final int MAX_REGION_SIZE = 80;
    /// Page sizes, 8 bytes.
    public static final int PAGE_SIZES = 88;
    /// Vendor.
    public static final int VENDOR_ID = 96;
    /// Vendor's part.
    public static final int VENDOR_PART_ID = 100;
    /// Hardware version.
    public static final int HARDWARE_VERSION = 104;
    /// Queue pairs.
    public static final int MAX_QUEUE_PAIRS = 108;
    /// Depth of a queue.
    public static final int MAX_QUEUE_PAIR_DEPTH = 112;
    /// The `DEVICE_` flags.
    public static final int CAPABILITY_FLAGS = 116;
    /// Elements of a request.
    public static final int MAX_SGE = 120;
    /// Elements of a READ.
    public static final int MAX_SGE_READ = 124;
    /// Completion queues.
    public static final int MAX_COMPLETION_QUEUES = 128;
    /// Depth of a completion queue.
    public static final int MAX_COMPLETION_QUEUE_DEPTH = 132;
    /// Memory regions.
    public static final int MAX_REGIONS = 136;
    /// Protection domains.
    public static final int MAX_PROTECTION_DOMAINS = 140;
    /// READs and atomics a queue pair answers.
    public static final int MAX_READ_ATOMIC = 144;
    /// READs and atomics an end-to-end context answers.
    public static final int MAX_EE_READ_ATOMIC = 148;
    /// READs and atomics the device answers.
    public static final int MAX_DEVICE_READ_ATOMIC = 152;
    /// READs and atomics a queue pair starts.
    public static final int MAX_INITIATOR_READ_ATOMIC = 156;
    /// READs and atomics an end-to-end context starts.
    public static final int MAX_EE_INITIATOR_READ_ATOMIC = 160;
    /// `enum ibv_atomic_cap`.
    public static final int ATOMICS = 164;
    /// End-to-end contexts.
    public static final int MAX_EE_CONTEXTS = 168;
    /// Reliable datagram domains.
    public static final int MAX_RELIABLE_DATAGRAM_DOMAINS = 172;
    /// Memory windows.
    public static final int MAX_WINDOWS = 176;
    /// Raw IPv6 queue pairs.
    public static final int MAX_RAW_IPV6_QUEUE_PAIRS = 180;
    /// Raw Ethernet queue pairs.
    public static final int MAX_RAW_ETHERNET_QUEUE_PAIRS = 184;
    /// Multicast groups.
    public static final int MAX_MULTICAST_GROUPS = 188;
    /// Queue pairs of a multicast group.
    public static final int MAX_MULTICAST_ATTACH = 192;
    /// Queue pairs of all multicast groups.
    public static final int MAX_TOTAL_MULTICAST_ATTACH = 196;
    /// Address handles.
    public static final int MAX_ADDRESS_HANDLES = 200;
    /// Fast memory regions.
    public static final int MAX_FAST_REGIONS = 204;
    /// Shared receive queues.
    public static final int MAX_SHARED_RECEIVE_QUEUES = 212;
    /// Depth of a shared receive queue.
    public static final int MAX_SHARED_RECEIVE_QUEUE_DEPTH = 216;
    /// Elements of a shared receive.
    public static final int MAX_SHARED_RECEIVE_QUEUE_SGE = 220;
    /// Partition keys, 2 bytes.
    public static final int MAX_PARTITION_KEYS = 224;
    /// Acknowledgement delay, 1 byte.
    public static final int LOCAL_ACK_DELAY = 226;
    /// Ports, 1 byte.
    public static final int PORTS = 227;

    /// Flag: a shared receive queue can change its size.
    public static final int DEVICE_RESIZE_SHARED_RECEIVE_QUEUE = 1 << 13;
    /// Flag: there are memory windows.
    public static final int DEVICE_MEMORY_WINDOW = 1 << 17;
    /// Flag: keys can be invalidated.
    public static final int DEVICE_MEMORY_MANAGEMENT = 1 << 21;
    /// Flag: there are memory windows of type 2A.
    public static final int DEVICE_MEMORY_WINDOW_2A = 1 << 23;
    /// Flag: there are memory windows of type 2B.
    public static final int DEVICE_MEMORY_WINDOW_2B = 1 << 24;

    private DeviceAttributesLayout() {}
}
