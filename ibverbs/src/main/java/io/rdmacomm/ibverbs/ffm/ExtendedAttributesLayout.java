package io.rdmacomm.ibverbs.ffm;

/// Byte offsets in what a device says of itself when it is asked for more, `struct ibv_device_attr_ex`
/// (ibv_query_device_ex(3)). It begins with a `struct ibv_device_attr`, see [DeviceAttributesLayout].
public final class ExtendedAttributesLayout {
    /// Size of the struct.
    public static final int BYTES = 400;
    /// On-demand paging, 8 bytes.
    public static final int ODP_CAPABILITIES = 240;
    /// On-demand paging of RC queue pairs.
    public static final int ODP_RELIABLE = 248;
    /// On-demand paging of UC queue pairs.
    public static final int ODP_UNRELIABLE = 252;
    /// On-demand paging of UD queue pairs.
    public static final int ODP_DATAGRAM = 256;
    /// Bits of a time stamp, 8 bytes.
    public static final int TIMESTAMP_MASK = 264;
    /// Frequency of its clock, 8 bytes.
    public static final int CORE_CLOCK = 272;
    /// The `DEVICE_` flags and more, 8 bytes.
    public static final int CAPABILITY_FLAGS = 280;
    /// Longest message to cut into segments.
    public static final int MAX_SEGMENTATION = 288;
    /// Types of queue pairs that do so.
    public static final int SEGMENTATION_TYPES = 292;
    /// Types of queue pairs that can be spread.
    public static final int SPREADING_TYPES = 296;
    /// Tables for spreading.
    public static final int MAX_SPREADING_TABLES = 300;
    /// Queues in a table.
    public static final int MAX_SPREADING_TABLE_SIZE = 304;
    /// What can be hashed, 8 bytes.
    public static final int HASH_FIELDS = 312;
    /// Hash functions, 1 byte.
    public static final int HASH_FUNCTIONS = 320;
    /// Receive queues of their own.
    public static final int MAX_RECEIVE_WORK_QUEUES = 328;
    /// Lowest limit of a rate.
    public static final int MIN_RATE_LIMIT = 332;
    /// Highest limit of a rate.
    public static final int MAX_RATE_LIMIT = 336;
    /// Types of queue pairs whose rate can be limited.
    public static final int RATE_LIMIT_TYPES = 340;
    /// Offloads of raw packet queue pairs.
    public static final int RAW_PACKET_CAPABILITIES = 344;
    /// Longest header of a rendezvous request.
    public static final int MAX_RENDEZVOUS_HEADER = 348;
    /// Tagged buffers.
    public static final int MAX_TAGS = 352;
    /// What tag matching can do.
    public static final int TAG_FLAGS = 356;
    /// Outstanding changes of a list of tagged buffers.
    public static final int MAX_TAG_OPERATIONS = 360;
    /// Elements of a tagged buffer.
    public static final int MAX_TAG_SGE = 364;
    /// Completions that an event stands for, 2 bytes.
    public static final int MAX_MODERATED_COMPLETIONS = 368;
    /// How long an event is held back, 2 bytes.
    public static final int MAX_MODERATION_PERIOD = 370;
    /// The device's own memory, 8 bytes.
    public static final int MAX_DEVICE_MEMORY = 376;
    /// On-demand paging of XRC queue pairs.
    public static final int ODP_EXTENDED_RELIABLE = 392;

    private ExtendedAttributesLayout() {}
}
