package io.rdmacomm.ibverbs.structs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.rdmacomm.ibverbs.ffm.ExtendedAttributesLayout;
import io.rdmacomm.verbs.DeviceLimit;
import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.Map;

/// Reads what ibv_query_device_ex(3) filled in beyond ibv_query_device(3).
public final class IbvExtendedAttributes {
    private static final Map<DeviceLimit, Integer> INTS = new EnumMap<>(DeviceLimit.class);
    private static final Map<DeviceLimit, Integer> LONGS = new EnumMap<>(DeviceLimit.class);
    private static final Map<DeviceLimit, Integer> SHORTS = new EnumMap<>(DeviceLimit.class);

    static {
        LONGS.put(DeviceLimit.ODP_CAPABILITIES, ExtendedAttributesLayout.ODP_CAPABILITIES);
        INTS.put(DeviceLimit.ODP_RELIABLE, ExtendedAttributesLayout.ODP_RELIABLE);
        INTS.put(DeviceLimit.ODP_UNRELIABLE, ExtendedAttributesLayout.ODP_UNRELIABLE);
        INTS.put(DeviceLimit.ODP_DATAGRAM, ExtendedAttributesLayout.ODP_DATAGRAM);
        INTS.put(DeviceLimit.ODP_EXTENDED_RELIABLE, ExtendedAttributesLayout.ODP_EXTENDED_RELIABLE);
        LONGS.put(DeviceLimit.TIMESTAMP_MASK, ExtendedAttributesLayout.TIMESTAMP_MASK);
        LONGS.put(DeviceLimit.CORE_CLOCK, ExtendedAttributesLayout.CORE_CLOCK);
        INTS.put(DeviceLimit.RAW_PACKET_CAPABILITIES, ExtendedAttributesLayout.RAW_PACKET_CAPABILITIES);
        LONGS.put(DeviceLimit.EXTENDED_CAPABILITY_FLAGS, ExtendedAttributesLayout.CAPABILITY_FLAGS);
        INTS.put(DeviceLimit.MAX_SEGMENTATION, ExtendedAttributesLayout.MAX_SEGMENTATION);
        INTS.put(DeviceLimit.SEGMENTATION_TYPES, ExtendedAttributesLayout.SEGMENTATION_TYPES);
        INTS.put(DeviceLimit.MAX_SPREADING_TABLES, ExtendedAttributesLayout.MAX_SPREADING_TABLES);
        INTS.put(DeviceLimit.MAX_SPREADING_TABLE_SIZE, ExtendedAttributesLayout.MAX_SPREADING_TABLE_SIZE);
        LONGS.put(DeviceLimit.HASH_FIELDS, ExtendedAttributesLayout.HASH_FIELDS);
        INTS.put(DeviceLimit.SPREADING_TYPES, ExtendedAttributesLayout.SPREADING_TYPES);
        INTS.put(DeviceLimit.MAX_RECEIVE_WORK_QUEUES, ExtendedAttributesLayout.MAX_RECEIVE_WORK_QUEUES);
        INTS.put(DeviceLimit.MIN_RATE_LIMIT, ExtendedAttributesLayout.MIN_RATE_LIMIT);
        INTS.put(DeviceLimit.MAX_RATE_LIMIT, ExtendedAttributesLayout.MAX_RATE_LIMIT);
        INTS.put(DeviceLimit.RATE_LIMIT_TYPES, ExtendedAttributesLayout.RATE_LIMIT_TYPES);
        INTS.put(DeviceLimit.MAX_RENDEZVOUS_HEADER, ExtendedAttributesLayout.MAX_RENDEZVOUS_HEADER);
        INTS.put(DeviceLimit.MAX_TAGS, ExtendedAttributesLayout.MAX_TAGS);
        INTS.put(DeviceLimit.MAX_TAG_OPERATIONS, ExtendedAttributesLayout.MAX_TAG_OPERATIONS);
        INTS.put(DeviceLimit.MAX_TAG_SGE, ExtendedAttributesLayout.MAX_TAG_SGE);
        INTS.put(DeviceLimit.TAG_FLAGS, ExtendedAttributesLayout.TAG_FLAGS);
        SHORTS.put(DeviceLimit.MAX_MODERATED_COMPLETIONS, ExtendedAttributesLayout.MAX_MODERATED_COMPLETIONS);
        SHORTS.put(DeviceLimit.MAX_MODERATION_PERIOD, ExtendedAttributesLayout.MAX_MODERATION_PERIOD);
        LONGS.put(DeviceLimit.MAX_DEVICE_MEMORY, ExtendedAttributesLayout.MAX_DEVICE_MEMORY);
    }

    private IbvExtendedAttributes() {}

    /// Reads the limits of a device.
    ///
    /// @param struct a `struct ibv_device_attr_ex`
    public static Map<DeviceLimit, Long> limits(MemorySegment struct) {
        Map<DeviceLimit, Long> limits = new EnumMap<>(DeviceLimit.class);
        INTS.forEach((limit, at) -> limits.put(limit, Integer.toUnsignedLong(struct.get(JAVA_INT, at))));
        LONGS.forEach((limit, at) -> limits.put(limit, struct.get(JAVA_LONG, at)));
        SHORTS.forEach((limit, at) -> limits.put(limit, Short.toUnsignedLong(struct.get(JAVA_SHORT, at))));
        limits.put(
                DeviceLimit.HASH_FUNCTIONS,
                Byte.toUnsignedLong(struct.get(JAVA_BYTE, ExtendedAttributesLayout.HASH_FUNCTIONS)));
        return limits;
    }
}
