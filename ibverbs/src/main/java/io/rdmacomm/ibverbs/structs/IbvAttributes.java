package io.rdmacomm.ibverbs.structs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.rdmacomm.ibverbs.ffm.DeviceAttributesLayout;
import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.ibverbs.ffm.PortAttributesLayout;
import io.rdmacomm.verbs.AtomicCapability;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.GidEntry;
import io.rdmacomm.verbs.GidType;
import io.rdmacomm.verbs.LinkLayer;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.PortState;
import io.rdmacomm.verbs.spi.DeviceValues;
import io.rdmacomm.verbs.spi.PortValues;
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
    /// @param extended whether all of it is filled; else only the first part is, a `struct ibv_device_attr`
    public static DeviceValues device(MemorySegment struct, int vectors, boolean extended) {
        Map<DeviceLimit, Long> limits = DeviceLimits.read(struct, extended);
        limits.put(DeviceLimit.COMPLETION_VECTORS, (long) Math.max(1, vectors));
        DeviceValues values = new DeviceValues();
        values.firmware =
                NativeMemory.string(struct, DeviceAttributesLayout.FIRMWARE, DeviceAttributesLayout.FIRMWARE_BYTES);
        values.nodeGuid = Long.reverseBytes(struct.get(JAVA_LONG, DeviceAttributesLayout.NODE_GUID));
        values.systemImageGuid = Long.reverseBytes(struct.get(JAVA_LONG, DeviceAttributesLayout.SYSTEM_IMAGE_GUID));
        values.vendorId = struct.get(JAVA_INT, DeviceAttributesLayout.VENDOR_ID);
        values.vendorPartId = struct.get(JAVA_INT, DeviceAttributesLayout.VENDOR_PART_ID);
        values.hardwareVersion = struct.get(JAVA_INT, DeviceAttributesLayout.HARDWARE_VERSION);
        values.ports = unsignedByte(struct, DeviceAttributesLayout.PORTS);
        values.atomics = AtomicCapability.of(struct.get(JAVA_INT, DeviceAttributesLayout.ATOMICS));
        values.limits = limits;
        return values;
    }

    /// Reads the attributes of a port.
    ///
    /// @param struct a `struct ibv_port_attr`
    public static PortValues port(MemorySegment struct) {
        PortValues values = new PortValues();
        values.state = PortState.of(struct.get(JAVA_INT, PortAttributesLayout.STATE));
        values.maxMtu = mtu(struct.get(JAVA_INT, PortAttributesLayout.MAX_MTU));
        values.activeMtu = mtu(struct.get(JAVA_INT, PortAttributesLayout.ACTIVE_MTU));
        values.lid = unsignedShort(struct, PortAttributesLayout.LID);
        values.lidMask = unsignedByte(struct, PortAttributesLayout.LID_MASK);
        values.subnetManagerLid = unsignedShort(struct, PortAttributesLayout.SUBNET_MANAGER_LID);
        values.subnetManagerServiceLevel = unsignedByte(struct, PortAttributesLayout.SUBNET_MANAGER_SERVICE_LEVEL);
        values.gidTableLength = struct.get(JAVA_INT, PortAttributesLayout.GID_TABLE_LENGTH);
        values.partitionKeyTableLength = unsignedShort(struct, PortAttributesLayout.PARTITION_KEY_TABLE_LENGTH);
        values.maxMessageSize = Integer.toUnsignedLong(struct.get(JAVA_INT, PortAttributesLayout.MAX_MESSAGE_SIZE));
        values.capabilityFlags = struct.get(JAVA_INT, PortAttributesLayout.CAPABILITY_FLAGS);
        values.capabilityFlags2 = unsignedShort(struct, PortAttributesLayout.CAPABILITY_FLAGS_2);
        values.maxVirtualLanes = unsignedByte(struct, PortAttributesLayout.MAX_VIRTUAL_LANES);
        values.badPartitionKeys = struct.get(JAVA_INT, PortAttributesLayout.BAD_PARTITION_KEYS);
        values.queueKeyViolations = struct.get(JAVA_INT, PortAttributesLayout.QUEUE_KEY_VIOLATIONS);
        values.subnetTimeout = unsignedByte(struct, PortAttributesLayout.SUBNET_TIMEOUT);
        values.initTypeReply = unsignedByte(struct, PortAttributesLayout.INIT_TYPE_REPLY);
        values.activeWidth = unsignedByte(struct, PortAttributesLayout.ACTIVE_WIDTH);
        values.activeSpeed = unsignedByte(struct, PortAttributesLayout.ACTIVE_SPEED);
        values.physicalState = unsignedByte(struct, PortAttributesLayout.PHYSICAL_STATE);
        values.linkLayer = LinkLayer.of(unsignedByte(struct, PortAttributesLayout.LINK_LAYER));
        return values;
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
