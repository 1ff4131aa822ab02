package io.rdmacomm.ibverbs.ffm;

/// Byte offsets in the attributes of a device, `struct ibv_device_attr` (ibv_query_device(3)). Those of
/// its limits are in `DeviceLimits`.
public final class DeviceAttributesLayout {
    /// Size of the struct.
    public static final int BYTES = 232;
    /// Size of a `struct ibv_device_attr_ex` (ibv_query_device_ex(3)), which begins with this struct.
    public static final int EXTENDED_BYTES = 400;
    /// Firmware version, a string.
    public static final int FIRMWARE = 0;
    /// Size of the firmware version.
    public static final int FIRMWARE_BYTES = 64;
    /// Node GUID, 8 bytes in network order.
    public static final int NODE_GUID = 64;
    /// System image GUID, 8 bytes in network order.
    public static final int SYSTEM_IMAGE_GUID = 72;
    /// Vendor.
    public static final int VENDOR_ID = 96;
    /// Vendor's part.
    public static final int VENDOR_PART_ID = 100;
    /// Hardware version.
    public static final int HARDWARE_VERSION = 104;
    /// `enum ibv_atomic_cap`.
    public static final int ATOMICS = 164;
    /// Ports, 1 byte.
    public static final int PORTS = 227;

    /// Flag: on-demand paging is supported.
    public static final int ODP_SUPPORTED = 1;

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
