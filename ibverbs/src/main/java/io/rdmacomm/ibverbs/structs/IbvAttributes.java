package io.rdmacomm.ibverbs.structs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.rdmacomm.ibverbs.ffm.DeviceAttributesLayout;
import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.ibverbs.ffm.PortAttributesLayout;
import io.rdmacomm.verbs.AtomicCapability;
import io.rdmacomm.verbs.DeviceAttributes;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.GidEntry;
import io.rdmacomm.verbs.GidType;
import io.rdmacomm.verbs.LinkLayer;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.PortAttributes;
import io.rdmacomm.verbs.PortState;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Reads the results of ibv_query_device(3), ibv_query_port(3) and ibv_query_gid_table(3).
public final class IbvAttributes {
    private static final ValueLayout.OfLong BIG_ENDIAN_LONG = JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);

    private IbvAttributes() {}

    /// Reads the attributes of a device.
    ///
    /// @param struct a `struct ibv_device_attr_ex`
    /// @param vectors how many completion vectors the context has
    /// @param extended whether all of it is filled, or only its first part, a `struct ibv_device_attr`
    public static DeviceAttributes device(MemorySegment struct, int vectors, boolean extended) {
        Map<DeviceLimit, Long> limits = DeviceLimits.read(struct, extended);
        limits.put(DeviceLimit.COMPLETION_VECTORS, (long) Math.max(1, vectors));
        return new DeviceAttributes(
                NativeMemory.string(struct, DeviceAttributesLayout.FIRMWARE, DeviceAttributesLayout.FIRMWARE_BYTES),
                Long.reverseBytes(struct.get(JAVA_LONG, DeviceAttributesLayout.NODE_GUID)),
                Long.reverseBytes(struct.get(JAVA_LONG, DeviceAttributesLayout.SYSTEM_IMAGE_GUID)),
                struct.get(JAVA_INT, DeviceAttributesLayout.VENDOR_ID),
                struct.get(JAVA_INT, DeviceAttributesLayout.VENDOR_PART_ID),
                struct.get(JAVA_INT, DeviceAttributesLayout.HARDWARE_VERSION),
                unsignedByte(struct, DeviceAttributesLayout.PORTS),
                AtomicCapability.of(struct.get(JAVA_INT, DeviceAttributesLayout.ATOMICS)),
                limits);
    }

    /// Reads the attributes of a port.
    ///
    /// @param struct a `struct ibv_port_attr`
    public static PortAttributes port(MemorySegment struct) {
        return new PortAttributes(
                PortState.of(struct.get(JAVA_INT, PortAttributesLayout.STATE)),
                mtu(struct.get(JAVA_INT, PortAttributesLayout.MAX_MTU)),
                mtu(struct.get(JAVA_INT, PortAttributesLayout.ACTIVE_MTU)),
                unsignedShort(struct, PortAttributesLayout.LID),
                unsignedByte(struct, PortAttributesLayout.LID_MASK),
                unsignedShort(struct, PortAttributesLayout.SUBNET_MANAGER_LID),
                unsignedByte(struct, PortAttributesLayout.SUBNET_MANAGER_SERVICE_LEVEL),
                struct.get(JAVA_INT, PortAttributesLayout.GID_TABLE_LENGTH),
                unsignedShort(struct, PortAttributesLayout.PARTITION_KEY_TABLE_LENGTH),
                Integer.toUnsignedLong(struct.get(JAVA_INT, PortAttributesLayout.MAX_MESSAGE_SIZE)),
                struct.get(JAVA_INT, PortAttributesLayout.CAPABILITY_FLAGS),
                unsignedShort(struct, PortAttributesLayout.CAPABILITY_FLAGS_2),
                unsignedByte(struct, PortAttributesLayout.MAX_VIRTUAL_LANES),
                struct.get(JAVA_INT, PortAttributesLayout.BAD_PARTITION_KEYS),
                struct.get(JAVA_INT, PortAttributesLayout.QUEUE_KEY_VIOLATIONS),
                unsignedByte(struct, PortAttributesLayout.SUBNET_TIMEOUT),
                unsignedByte(struct, PortAttributesLayout.INIT_TYPE_REPLY),
                unsignedByte(struct, PortAttributesLayout.ACTIVE_WIDTH),
                unsignedByte(struct, PortAttributesLayout.ACTIVE_SPEED),
                unsignedByte(struct, PortAttributesLayout.PHYSICAL_STATE),
                LinkLayer.of(unsignedByte(struct, PortAttributesLayout.LINK_LAYER)));
    }

    /// Picks the GIDs of one port.
    ///
    /// @param entries an array of `struct ibv_gid_entry`, of all ports
    public static List<GidEntry> gids(MemorySegment entries, int count, int port) {
        List<GidEntry> found = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long at = (long) i * PortAttributesLayout.GID_ENTRY_BYTES;
            if (entries.get(JAVA_INT, at + PortAttributesLayout.GID_ENTRY_PORT) == port) {
                found.add(new GidEntry(
                        entries.get(JAVA_INT, at + PortAttributesLayout.GID_ENTRY_INDEX),
                        gid(entries, at + PortAttributesLayout.GID_ENTRY_GID),
                        GidType.of(entries.get(JAVA_INT, at + PortAttributesLayout.GID_ENTRY_TYPE)),
                        entries.get(JAVA_INT, at + PortAttributesLayout.GID_ENTRY_INTERFACE)));
            }
        }
        return found;
    }

    public static Gid gid(MemorySegment struct, long offset) {
        return new Gid(struct.get(BIG_ENDIAN_LONG, offset), struct.get(BIG_ENDIAN_LONG, offset + Long.BYTES));
    }

    /// The MTU with this code; the next lower one if a driver reports an unknown code.
    public static PathMtu mtu(int code) {
        PathMtu nearest = PathMtu.MTU_256;
        for (PathMtu mtu : PathMtu.values()) {
            if (mtu.code() <= code) {
                nearest = mtu;
            }
        }
        return nearest;
    }

    private static int unsignedShort(MemorySegment struct, long offset) {
        return Short.toUnsignedInt(struct.get(JAVA_SHORT, offset));
    }

    private static int unsignedByte(MemorySegment struct, long offset) {
        return Byte.toUnsignedInt(struct.get(JAVA_BYTE, offset));
    }
}
