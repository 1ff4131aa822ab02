package io.rdmacomm.cli.devices;

import io.rdmacomm.verbs.AtomicCapability;
import io.rdmacomm.verbs.GidType;
import io.rdmacomm.verbs.LinkLayer;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.PortState;
import io.rdmacomm.verbs.TransportType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// The names of codes in ibv_devinfo(1).
final class VerbsNames {
    private static final Map<Integer, String> DEVICE_FLAGS = new LinkedHashMap<>();

    static {
        DEVICE_FLAGS.put(0, "RESIZE_MAX_WR");
        DEVICE_FLAGS.put(1, "BAD_PKEY_CNTR");
        DEVICE_FLAGS.put(2, "BAD_QKEY_CNTR");
        DEVICE_FLAGS.put(3, "RAW_MULTI");
        DEVICE_FLAGS.put(4, "AUTO_PATH_MIG");
        DEVICE_FLAGS.put(5, "CHANGE_PHY_PORT");
        DEVICE_FLAGS.put(6, "UD_AV_PORT_ENFORCE");
        DEVICE_FLAGS.put(7, "CURR_QP_STATE_MOD");
        DEVICE_FLAGS.put(8, "SHUTDOWN_PORT");
        DEVICE_FLAGS.put(9, "INIT_TYPE");
        DEVICE_FLAGS.put(10, "PORT_ACTIVE_EVENT");
        DEVICE_FLAGS.put(11, "SYS_IMAGE_GUID");
        DEVICE_FLAGS.put(12, "RC_RNR_NAK_GEN");
        DEVICE_FLAGS.put(13, "SRQ_RESIZE");
        DEVICE_FLAGS.put(14, "N_NOTIFY_CQ");
        DEVICE_FLAGS.put(17, "MEM_WINDOW");
        DEVICE_FLAGS.put(18, "UD_IP_CSUM");
        DEVICE_FLAGS.put(20, "XRC");
        DEVICE_FLAGS.put(21, "MEM_MGT_EXTENSIONS");
        DEVICE_FLAGS.put(23, "MEM_WINDOW_TYPE_2A");
        DEVICE_FLAGS.put(24, "MEM_WINDOW_TYPE_2B");
        DEVICE_FLAGS.put(25, "RC_IP_CSUM");
        DEVICE_FLAGS.put(26, "RAW_IP_CSUM");
        DEVICE_FLAGS.put(29, "MANAGED_FLOW_STEERING");
    }

    private VerbsNames() {}

    static List<String> deviceFlags(long flags) {
        return named(DEVICE_FLAGS, flags);
    }

    /// The names of the set bits in ascending order, and then one entry for all set bits without a name.
    static List<String> flags(Map<Integer, String> bits, long flags) {
        List<String> names = named(new TreeMap<>(bits), flags);
        long unknown = flags;
        for (int bit : bits.keySet()) {
            unknown &= ~(1L << bit);
        }
        if (unknown != 0) {
            names.add("Unknown flags: 0x%X".formatted(unknown));
        }
        return names;
    }

    private static List<String> named(Map<Integer, String> bits, long flags) {
        List<String> names = new ArrayList<>();
        bits.forEach((bit, name) -> {
            if ((flags >>> bit & 1) != 0) {
                names.add(name);
            }
        });
        return names;
    }

    static String of(TransportType transport) {
        String name = switch (transport) {
            case INFINIBAND -> "InfiniBand";
            case IWARP -> "iWARP";
            case USNIC -> "usNIC";
            case USNIC_UDP -> "usNIC UDP";
            case UNSPECIFIED -> "unspecified";
            case UNKNOWN -> "invalid transport";
        };
        return coded(name, transport.code());
    }

    static String of(AtomicCapability atomics) {
        String name = switch (atomics) {
            case NONE -> "ATOMIC_NONE";
            case DEVICE -> "ATOMIC_HCA";
            case GLOBAL -> "ATOMIC_GLOB";
            case UNKNOWN -> "invalid atomic capability";
        };
        return coded(name, atomics.code());
    }

    static String of(PortState state) {
        return coded("PORT_" + state.name(), state.code());
    }

    static String of(PathMtu mtu) {
        return coded(Integer.toString(mtu.bytes()), mtu.code());
    }

    static String of(LinkLayer linkLayer) {
        return switch (linkLayer) {
            case UNSPECIFIED -> "Unspecified";
            case INFINIBAND -> "InfiniBand";
            case ETHERNET -> "Ethernet";
            case UNKNOWN -> "Unknown";
        };
    }

    static String of(GidType type) {
        return switch (type) {
            case INFINIBAND -> "IB";
            case ROCE_V1 -> "RoCE v1";
            case ROCE_V2 -> "RoCE v2";
            case UNKNOWN -> "";
        };
    }

    static String virtualLanes(int code) {
        String name = switch (code) {
            case 1 -> "1";
            case 2 -> "2";
            case 3 -> "4";
            case 4 -> "8";
            case 5 -> "15";
            default -> "invalid value";
        };
        return coded(name, code);
    }

    static String width(int code) {
        String name = switch (code) {
            case 1 -> "1";
            case 2 -> "4";
            case 4 -> "8";
            case 8 -> "12";
            case 16 -> "2";
            default -> "invalid width";
        };
        return coded(name + "X", code);
    }

    static String speed(int code) {
        String name = switch (code) {
            case 1 -> "2.5 Gbps";
            case 2 -> "5.0 Gbps";
            case 4, 8 -> "10.0 Gbps";
            case 16 -> "14.0 Gbps";
            case 32 -> "25.0 Gbps";
            case 64 -> "50.0 Gbps";
            case 128 -> "100.0 Gbps";
            default -> "invalid speed";
        };
        return coded(name, code);
    }

    static String physicalState(int code) {
        String name = switch (code) {
            case 1 -> "SLEEP";
            case 2 -> "POLLING";
            case 3 -> "DISABLED";
            case 4 -> "PORT_CONFIGURATION TRAINNING";
            case 5 -> "LINK_UP";
            case 6 -> "LINK_ERROR_RECOVERY";
            case 7 -> "PHY TEST";
            default -> "invalid physical state";
        };
        return coded(name, code);
    }

    private static String coded(String name, int code) {
        return name + " (" + code + ")";
    }
}
