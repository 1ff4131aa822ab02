package io.rdmacomm.cli;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.DeviceAttributes;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PortAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// A device under the names that ibv_devinfo(1) uses, for people and as JSON.
final class DeviceDescription {
    private DeviceDescription() {}

    static Map<String, Object> of(Context context) {
        DeviceAttributes attributes = context.attributes();
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("hca_id", context.device().name());
        members.put("provider", context.device().provider());
        members.put(
                "transport",
                context.device().transport().name() + " ("
                        + context.device().transport().code() + ")");
        members.put("fw_ver", attributes.firmware());
        members.put("node_guid", guid(attributes.nodeGuid()));
        members.put("sys_image_guid", guid(attributes.systemImageGuid()));
        members.put("vendor_id", "0x%04x".formatted(attributes.vendorId()));
        members.put("vendor_part_id", attributes.vendorPartId());
        members.put("hw_ver", "0x%x".formatted(attributes.hardwareVersion()));
        members.put("phys_port_cnt", attributes.ports());
        members.put(
                "atomic_cap",
                attributes.atomics().name() + " (" + attributes.atomics().code() + ")");
        Map<String, Object> limits = new LinkedHashMap<>();
        for (Map.Entry<DeviceLimit, Long> limit : attributes.limits().entrySet()) {
            limits.put(limit.getKey().cName(), limitValue(limit.getKey(), limit.getValue()));
        }
        members.put("limits", limits);
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

    private static Map<String, Object> port(Context context, int number) {
        PortAttributes port = context.port(number);
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("port", number);
        members.put("state", "PORT_" + port.state().name() + " (" + port.state().code() + ")");
        members.put("max_mtu", port.maxMtu().name().replace("MTU_", ""));
        members.put("active_mtu", port.activeMtu().name().replace("MTU_", ""));
        members.put("sm_lid", port.subnetManagerLid());
        members.put("port_lid", port.lid());
        members.put("port_lmc", "0x%02x".formatted(port.lidMask()));
        members.put("link_layer", port.linkLayer().name());
        members.put("max_msg_sz", port.maxMessageSize());
        members.put("port_cap_flags", "0x%08x".formatted(port.capabilityFlags()));
        members.put("max_vl_num", port.maxVirtualLanes());
        members.put("bad_pkey_cntr", port.badPartitionKeys());
        members.put("qkey_viol_cntr", port.queueKeyViolations());
        members.put("sm_sl", port.subnetManagerServiceLevel());
        members.put("pkey_tbl_len", port.partitionKeyTableLength());
        members.put("gid_tbl_len", port.gidTableLength());
        members.put("subnet_timeout", port.subnetTimeout());
        members.put("init_type_reply", port.initTypeReply());
        members.put("active_width", port.activeWidth());
        members.put("active_speed", port.activeSpeed());
        members.put("phys_state", port.physicalState());
        Map<String, Object> gids = new LinkedHashMap<>();
        for (int index = 0; index < port.gidTableLength(); index++) {
            Gid gid = context.gid(number, index);
            if (!gid.equals(Gid.NONE)) {
                gids.put(Integer.toString(index), gid.toString());
            }
        }
        members.put("GID", gids);
        return members;
    }

    private static Object limitValue(DeviceLimit limit, long value) {
        return switch (limit) {
            case PAGE_SIZES, CAPABILITY_FLAGS -> "0x%x".formatted(value);
            default -> value;
        };
    }

    private static String guid(long guid) {
        String digits = "%016x".formatted(guid);
        return digits.substring(0, 4) + ":" + digits.substring(4, 8) + ":" + digits.substring(8, 12) + ":"
                + digits.substring(12);
    }
}
