package io.rdmacomm.cli.devices;

import io.rdmacomm.verbs.DeviceAttributes;
import io.rdmacomm.verbs.DeviceLimit;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// The extended attributes of a device, from ibv_query_device_ex(3), as ibv_devinfo(1) prints them. Like
/// ibv_devinfo, leaves out features that the device does not have.
final class ExtendedDescription {
    private static final Set<DeviceLimit> LIMITS =
            EnumSet.range(DeviceLimit.ODP_CAPABILITIES, DeviceLimit.MAX_DEVICE_MEMORY);
    private static final String NOT_SUPPORTED = "not supported";
    private static final String NO_TRANSPORT = "NO SUPPORT";

    private static final List<String> PAGING = List.of("ODP_SUPPORT", "ODP_SUPPORT_IMPLICIT");
    private static final List<String> PAGED = List.of(
            "SUPPORT_SEND",
            "SUPPORT_RECV",
            "SUPPORT_WRITE",
            "SUPPORT_READ",
            "SUPPORT_ATOMIC",
            "SUPPORT_SRQ",
            "SUPPORT_FLUSH",
            "SUPPORT_ATOMIC_WRITE");
    private static final List<String> RAW_PACKETS =
            List.of("C-VLAN stripping offload", "Scatter FCS offload", "IP csum offload", "Delay drop");
    private static final Map<Integer, String> FLAGS =
            Map.of(34, "RAW_SCATTER_FCS", 36, "PCI_WRITE_END_PADDING", 37, "CC_DMA_BOUNCE");
    private static final Map<Integer, String> TYPES = Map.of(2, "SUPPORT_RC", 4, "SUPPORT_UD", 8, "SUPPORT_RAW_PACKET");

    private final DeviceAttributes attributes;

    private ExtendedDescription(DeviceAttributes attributes) {
        this.attributes = attributes;
    }

    /// Whether this class describes `limit`.
    static boolean covers(DeviceLimit limit) {
        return LIMITS.contains(limit);
    }

    /// Adds the extended attributes to `members`, if the device reports them.
    static void addTo(Map<String, Object> members, DeviceAttributes attributes) {
        if (attributes.limits().containsKey(DeviceLimit.EXTENDED_CAPABILITY_FLAGS)) {
            new ExtendedDescription(attributes).describe(members);
        }
    }

    private long value(DeviceLimit limit) {
        return attributes.limit(limit);
    }

    private void describe(Map<String, Object> members) {
        add(members, DeviceLimit.ODP_CAPABILITIES, names(PAGING, value(DeviceLimit.ODP_CAPABILITIES)));
        for (DeviceLimit paged : EnumSet.range(DeviceLimit.ODP_RELIABLE, DeviceLimit.ODP_EXTENDED_RELIABLE)) {
            add(members, paged, value(paged) == 0 ? NO_TRANSPORT : names(PAGED, value(paged)));
        }
        long mask = value(DeviceLimit.TIMESTAMP_MASK);
        add(members, DeviceLimit.TIMESTAMP_MASK, mask == 0 ? NOT_SUPPORTED : "0x%016x".formatted(mask));
        long clock = value(DeviceLimit.CORE_CLOCK);
        add(members, DeviceLimit.CORE_CLOCK, clock == 0 ? NOT_SUPPORTED : clock + "kHZ");
        long raw = value(DeviceLimit.RAW_PACKET_CAPABILITIES);
        if (raw != 0) {
            add(members, DeviceLimit.RAW_PACKET_CAPABILITIES, names(RAW_PACKETS, raw));
        }
        long flags = value(DeviceLimit.EXTENDED_CAPABILITY_FLAGS);
        add(members, DeviceLimit.EXTENDED_CAPABILITY_FLAGS, "0x%X".formatted(flags));
        members.put("device_cap_flags_ex_names", VerbsNames.flags(FLAGS, flags & -1L << Integer.SIZE));
        members.put("tso_caps", segmentation());
        members.put("rss_caps", spreading());
        add(members, DeviceLimit.MAX_RECEIVE_WORK_QUEUES, value(DeviceLimit.MAX_RECEIVE_WORK_QUEUES));
        members.put("packet_pacing_caps", pacing());
        members.put("tag_matching_caps", value(DeviceLimit.MAX_TAGS) == 0 ? NOT_SUPPORTED : tagMatching());
        if (value(DeviceLimit.MAX_MODERATED_COMPLETIONS) != 0 && value(DeviceLimit.MAX_MODERATION_PERIOD) != 0) {
            members.put("cq_moderation_caps", moderation());
        }
        if (value(DeviceLimit.MAX_DEVICE_MEMORY) != 0) {
            add(members, DeviceLimit.MAX_DEVICE_MEMORY, value(DeviceLimit.MAX_DEVICE_MEMORY));
        }
    }

    private Map<String, Object> segmentation() {
        Map<String, Object> members = new LinkedHashMap<>();
        add(members, DeviceLimit.MAX_SEGMENTATION, value(DeviceLimit.MAX_SEGMENTATION));
        addTypes(members, DeviceLimit.SEGMENTATION_TYPES);
        return members;
    }

    private Map<String, Object> spreading() {
        Map<String, Object> members = new LinkedHashMap<>();
        add(members, DeviceLimit.MAX_SPREADING_TABLES, value(DeviceLimit.MAX_SPREADING_TABLES));
        add(members, DeviceLimit.MAX_SPREADING_TABLE_SIZE, value(DeviceLimit.MAX_SPREADING_TABLE_SIZE));
        add(members, DeviceLimit.HASH_FUNCTIONS, "0x%x".formatted(value(DeviceLimit.HASH_FUNCTIONS)));
        add(members, DeviceLimit.HASH_FIELDS, "0x%X".formatted(value(DeviceLimit.HASH_FIELDS)));
        addTypes(members, DeviceLimit.SPREADING_TYPES);
        return members;
    }

    private Map<String, Object> pacing() {
        Map<String, Object> members = new LinkedHashMap<>();
        add(members, DeviceLimit.MIN_RATE_LIMIT, value(DeviceLimit.MIN_RATE_LIMIT) + "kbps");
        add(members, DeviceLimit.MAX_RATE_LIMIT, value(DeviceLimit.MAX_RATE_LIMIT) + "kbps");
        addTypes(members, DeviceLimit.RATE_LIMIT_TYPES);
        return members;
    }

    private Map<String, Object> tagMatching() {
        Map<String, Object> members = new LinkedHashMap<>();
        for (DeviceLimit limit : EnumSet.range(DeviceLimit.MAX_RENDEZVOUS_HEADER, DeviceLimit.MAX_TAG_SGE)) {
            add(members, limit, value(limit));
        }
        add(members, DeviceLimit.TAG_FLAGS, names(List.of("IBV_TM_CAP_RC"), value(DeviceLimit.TAG_FLAGS)));
        return members;
    }

    private Map<String, Object> moderation() {
        Map<String, Object> members = new LinkedHashMap<>();
        add(members, DeviceLimit.MAX_MODERATED_COMPLETIONS, value(DeviceLimit.MAX_MODERATED_COMPLETIONS));
        add(members, DeviceLimit.MAX_MODERATION_PERIOD, value(DeviceLimit.MAX_MODERATION_PERIOD) + " us");
        return members;
    }

    private void addTypes(Map<String, Object> members, DeviceLimit limit) {
        if (value(limit) != 0) {
            add(members, limit, VerbsNames.flags(TYPES, value(limit)));
        }
    }

    private static void add(Map<String, Object> members, DeviceLimit limit, Object value) {
        members.put(limit.cName(), value);
    }

    private static List<String> names(List<String> bits, long flags) {
        Map<Integer, String> numbered = new LinkedHashMap<>();
        bits.forEach(name -> numbered.put(numbered.size(), name));
        return VerbsNames.flags(numbered, flags);
    }
}
