package io.rdmacomm.verbs.spi;

import io.rdmacomm.verbs.AtomicCapability;
import io.rdmacomm.verbs.DeviceLimit;
import java.util.EnumMap;
import java.util.Map;

/// The attributes that a driver reports of its device, as in `struct ibv_device_attr`. See
/// [io.rdmacomm.verbs.DeviceAttributes] for the meaning of the values. A driver makes a new one for each
/// query, and does not change it afterwards.
public final class DeviceValues {
    /// `fw_ver`
    public String firmware = "";
    /// `node_guid`
    public long nodeGuid;
    /// `sys_image_guid`
    public long systemImageGuid;
    /// `vendor_id`
    public int vendorId;
    /// `vendor_part_id`
    public int vendorPartId;
    /// `hw_ver`
    public int hardwareVersion;
    /// `phys_port_cnt`
    public int ports;
    /// `atomic_cap`
    public AtomicCapability atomics = AtomicCapability.NONE;
    /// The device's limits, without those that the driver does not know.
    public Map<DeviceLimit, Long> limits = new EnumMap<>(DeviceLimit.class);

    /// Numbers are 0 until they are set.
    public DeviceValues() {}

    /// The value of `limit`; 0 if the driver does not know it.
    public long limit(DeviceLimit limit) {
        return limits.getOrDefault(limit, 0L);
    }
}
