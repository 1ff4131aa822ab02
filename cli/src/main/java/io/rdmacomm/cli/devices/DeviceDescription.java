package io.rdmacomm.cli.devices;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.DeviceAttributes;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.GidEntry;
import io.rdmacomm.verbs.PortAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// Describes a device with the names of ibv_devinfo(1), for text and JSON.
public final class DeviceDescription {
    private DeviceDescription() {}

    public static Map<String, Object> of(Context context) {
        DeviceAttributes attributes = context.attributes();
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("hca_id", context.device().name());
        members.put("provider", context.device().provider());
        members.put("transport", VerbsNames.of(context.device().transport()));
        members.put("fw_ver", attributes.firmware());
        members.put("node_guid", guid(attributes.nodeGuid()));
        members.put("sys_image_guid", guid(attributes.systemImageGuid()));
        members.put("vendor_id", "0x%04x".formatted(attributes.vendorId()));
        members.put("vendor_part_id", attributes.vendorPartId());
        members.put("hw_ver", "0x%X".formatted(attributes.hardwareVersion()));
        members.put("phys_port_cnt", attributes.ports());
        members.put("atomic_cap", VerbsNames.of(attributes.atomics()));
        attributes.limits().forEach((limit, value) -> {
            if (!ExtendedDescription.covers(limit)) {
                addLimit(members, limit, value);
            }
        });
        ExtendedDescription.addTo(members, attributes);
        members.put(
                "capabilities",
                Arrays.stream(Capability.values())
                        .filter(context::supports)
                        .map(capability -> capability.name().toLowerCase(Locale.ROOT))
                        .toList());
        List<Map<String, Object>> ports = new ArrayList<>();
        for (int port = 1; port <= attributes.ports(); port++) {
            ports.add(port(context, port));
        }
        members.put("port", ports);
        return members;
    }

    private static void addLimit(Map<String, Object> members, DeviceLimit limit, long value) {
        switch (limit) {
            // If all bits are set, the device has no limit.
            case MAX_REGION_SIZE -> members.put(limit.cName(), "0x%x".formatted(value == Long.MAX_VALUE ? -1L : value));
            case PAGE_SIZES -> members.put(limit.cName(), "0x%x".formatted(value));
            case CAPABILITY_FLAGS -> {
                members.put(limit.cName(), "0x%08x".formatted(value));
                members.put("device_cap_flag_names", VerbsNames.deviceFlags(value));
            }
            default -> members.put(limit.cName(), value);
        }
    }

    private static Map<String, Object> port(Context context, int number) {
        PortAttributes port = context.port(number);
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("port", number);
        members.put("state", VerbsNames.of(port.state()));
        members.put("max_mtu", VerbsNames.of(port.maxMtu()));
        members.put("active_mtu", VerbsNames.of(port.activeMtu()));
        members.put("sm_lid", port.subnetManagerLid());
        members.put("port_lid", port.lid());
        members.put("port_lmc", "0x%02x".formatted(port.lidMask()));
        members.put("link_layer", VerbsNames.of(port.linkLayer()));
        members.put("max_msg_sz", "0x%x".formatted(port.maxMessageSize()));
        members.put("port_cap_flags", "0x%08x".formatted(port.capabilityFlags()));
        members.put("port_cap_flags2", "0x%04x".formatted(port.capabilityFlags2()));
        members.put("max_vl_num", VerbsNames.virtualLanes(port.maxVirtualLanes()));
        members.put("bad_pkey_cntr", "0x%x".formatted(port.badPartitionKeys()));
        members.put("qkey_viol_cntr", "0x%x".formatted(port.queueKeyViolations()));
        members.put("sm_sl", port.subnetManagerServiceLevel());
        members.put("pkey_tbl_len", port.partitionKeyTableLength());
        members.put("gid_tbl_len", port.gidTableLength());
        members.put("subnet_timeout", port.subnetTimeout());
        members.put("init_type_reply", port.initTypeReply());
        members.put("active_width", VerbsNames.width(port.activeWidth()));
        members.put("active_speed", VerbsNames.speed(port.activeSpeed()));
        members.put("phys_state", VerbsNames.physicalState(port.physicalState()));
        for (GidEntry entry : context.gidTable(number)) {
            String type = VerbsNames.of(entry.type());
            members.put("GID[%3d]".formatted(entry.index()), entry.gid() + (type.isEmpty() ? "" : ", " + type));
        }
        return members;
    }

    private static String guid(long guid) {
        String digits = "%016x".formatted(guid);
        return digits.substring(0, 4) + ":" + digits.substring(4, 8) + ":" + digits.substring(8, 12) + ":"
                + digits.substring(12);
    }
}
