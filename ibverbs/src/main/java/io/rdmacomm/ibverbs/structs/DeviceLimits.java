package io.rdmacomm.ibverbs.structs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.rdmacomm.ibverbs.ffm.DeviceAttributesLayout;
import io.rdmacomm.verbs.DeviceLimit;
import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.Map;

/// The offset of each limit of a device in the structs that a query fills: `struct ibv_device_attr`
/// (ibv_query_device(3)), and after it the rest of `struct ibv_device_attr_ex` (ibv_query_device_ex(3)).
public final class DeviceLimits {
    /// An unsigned number in the struct.
    ///
    /// @param offset where it begins
    /// @param bytes its size
    private record Field(int offset, int bytes) {
        long read(MemorySegment struct) {
            return switch (bytes) {
                case 1 -> Byte.toUnsignedLong(struct.get(JAVA_BYTE, offset));
                case 2 -> Short.toUnsignedLong(struct.get(JAVA_SHORT, offset));
                case 4 -> Integer.toUnsignedLong(struct.get(JAVA_INT, offset));
                default -> struct.get(JAVA_LONG, offset);
            };
        }
    }

    private static final Map<DeviceLimit, Field> FIELDS = new EnumMap<>(DeviceLimit.class);

    static {
        field(DeviceLimit.MAX_REGION_SIZE, 80, 8);
        field(DeviceLimit.PAGE_SIZES, 88, 8);
        field(DeviceLimit.MAX_QUEUE_PAIRS, 108, 4);
        field(DeviceLimit.MAX_QUEUE_PAIR_DEPTH, 112, 4);
        field(DeviceLimit.CAPABILITY_FLAGS, 116, 4);
        field(DeviceLimit.MAX_SGE, 120, 4);
        field(DeviceLimit.MAX_SGE_READ, 124, 4);
        field(DeviceLimit.MAX_COMPLETION_QUEUES, 128, 4);
        field(DeviceLimit.MAX_COMPLETION_QUEUE_DEPTH, 132, 4);
        field(DeviceLimit.MAX_REGIONS, 136, 4);
        field(DeviceLimit.MAX_PROTECTION_DOMAINS, 140, 4);
        field(DeviceLimit.MAX_READ_ATOMIC, 144, 4);
        field(DeviceLimit.MAX_EE_READ_ATOMIC, 148, 4);
        field(DeviceLimit.MAX_DEVICE_READ_ATOMIC, 152, 4);
        field(DeviceLimit.MAX_INITIATOR_READ_ATOMIC, 156, 4);
        field(DeviceLimit.MAX_EE_INITIATOR_READ_ATOMIC, 160, 4);
        field(DeviceLimit.MAX_EE_CONTEXTS, 168, 4);
        field(DeviceLimit.MAX_RELIABLE_DATAGRAM_DOMAINS, 172, 4);
        field(DeviceLimit.MAX_WINDOWS, 176, 4);
        field(DeviceLimit.MAX_RAW_IPV6_QUEUE_PAIRS, 180, 4);
        field(DeviceLimit.MAX_RAW_ETHERNET_QUEUE_PAIRS, 184, 4);
        field(DeviceLimit.MAX_MULTICAST_GROUPS, 188, 4);
        field(DeviceLimit.MAX_MULTICAST_ATTACH, 192, 4);
        field(DeviceLimit.MAX_TOTAL_MULTICAST_ATTACH, 196, 4);
        field(DeviceLimit.MAX_ADDRESS_HANDLES, 200, 4);
        field(DeviceLimit.MAX_FAST_REGIONS, 204, 4);
        field(DeviceLimit.MAX_SHARED_RECEIVE_QUEUES, 212, 4);
        field(DeviceLimit.MAX_SHARED_RECEIVE_QUEUE_DEPTH, 216, 4);
        field(DeviceLimit.MAX_SHARED_RECEIVE_QUEUE_SGE, 220, 4);
        field(DeviceLimit.MAX_PARTITION_KEYS, 224, 2);
        field(DeviceLimit.LOCAL_ACK_DELAY, 226, 1);
        field(DeviceLimit.ODP_CAPABILITIES, 240, 8);
        field(DeviceLimit.ODP_RELIABLE, 248, 4);
        field(DeviceLimit.ODP_UNRELIABLE, 252, 4);
        field(DeviceLimit.ODP_DATAGRAM, 256, 4);
        field(DeviceLimit.TIMESTAMP_MASK, 264, 8);
        field(DeviceLimit.CORE_CLOCK, 272, 8);
        field(DeviceLimit.EXTENDED_CAPABILITY_FLAGS, 280, 8);
        field(DeviceLimit.MAX_SEGMENTATION, 288, 4);
        field(DeviceLimit.SEGMENTATION_TYPES, 292, 4);
        field(DeviceLimit.SPREADING_TYPES, 296, 4);
        field(DeviceLimit.MAX_SPREADING_TABLES, 300, 4);
        field(DeviceLimit.MAX_SPREADING_TABLE_SIZE, 304, 4);
        field(DeviceLimit.HASH_FIELDS, 312, 8);
        field(DeviceLimit.HASH_FUNCTIONS, 320, 1);
        field(DeviceLimit.MAX_RECEIVE_WORK_QUEUES, 328, 4);
        field(DeviceLimit.MIN_RATE_LIMIT, 332, 4);
        field(DeviceLimit.MAX_RATE_LIMIT, 336, 4);
        field(DeviceLimit.RATE_LIMIT_TYPES, 340, 4);
        field(DeviceLimit.RAW_PACKET_CAPABILITIES, 344, 4);
        field(DeviceLimit.MAX_RENDEZVOUS_HEADER, 348, 4);
        field(DeviceLimit.MAX_TAGS, 352, 4);
        field(DeviceLimit.TAG_FLAGS, 356, 4);
        field(DeviceLimit.MAX_TAG_OPERATIONS, 360, 4);
        field(DeviceLimit.MAX_TAG_SGE, 364, 4);
        field(DeviceLimit.MAX_MODERATED_COMPLETIONS, 368, 2);
        field(DeviceLimit.MAX_MODERATION_PERIOD, 370, 2);
        field(DeviceLimit.MAX_DEVICE_MEMORY, 376, 8);
        field(DeviceLimit.ODP_EXTENDED_RELIABLE, 392, 4);
    }

    private DeviceLimits() {}

    private static void field(DeviceLimit limit, int offset, int bytes) {
        FIELDS.put(limit, new Field(offset, bytes));
    }

    /// The offset of a limit; -1 if no struct has it.
    public static int offset(DeviceLimit limit) {
        Field field = FIELDS.get(limit);
        return field == null ? -1 : field.offset();
    }

    /// Reads the limits in a struct.
    ///
    /// @param extended whether the struct is a filled `struct ibv_device_attr_ex`, or only its first part is filled
    static Map<DeviceLimit, Long> read(MemorySegment struct, boolean extended) {
        Map<DeviceLimit, Long> limits = new EnumMap<>(DeviceLimit.class);
        FIELDS.forEach((limit, field) -> {
            if (extended || field.offset() < DeviceAttributesLayout.BYTES) {
                limits.put(limit, field.read(struct));
            }
        });
        // Some devices report the largest uint64_t: their regions have no limit.
        limits.computeIfPresent(DeviceLimit.MAX_REGION_SIZE, (limit, bytes) -> bytes < 0 ? Long.MAX_VALUE : bytes);
        return limits;
    }
}
