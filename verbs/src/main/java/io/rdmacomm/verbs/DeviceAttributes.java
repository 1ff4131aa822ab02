package io.rdmacomm.verbs;

import io.rdmacomm.verbs.spi.DeviceValues;
import java.util.Collections;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The identity and limits of a device (`struct ibv_device_attr`, ibv_query_device(3)). Immutable.
public final class DeviceAttributes extends ValueObject<DeviceAttributes> {
    private final DeviceValues values;

    DeviceAttributes(DeviceValues values) {
        this.values = values;
    }

    /// The firmware version.
    public String firmware() {
        return values.firmware;
    }

    /// The device's globally unique number.
    public long nodeGuid() {
        return values.nodeGuid;
    }

    /// The number that all devices of one machine share.
    public long systemImageGuid() {
        return values.systemImageGuid;
    }

    /// The vendor's number.
    public int vendorId() {
        return values.vendorId;
    }

    /// The vendor's part number.
    public int vendorPartId() {
        return values.vendorPartId;
    }

    /// The hardware's version.
    public int hardwareVersion() {
        return values.hardwareVersion;
    }

    /// The number of ports.
    public int ports() {
        return values.ports;
    }

    /// The scope in which remote atomics are atomic.
    public AtomicCapability atomics() {
        return values.atomics;
    }

    /// The device's limits, without those that the provider does not know.
    public Map<DeviceLimit, Long> limits() {
        return Collections.unmodifiableMap(values.limits);
    }

    /// The value of `limit`; 0 if the provider does not know it.
    public long limit(DeviceLimit limit) {
        return values.limit(limit);
    }

    @Override
    @Nullable
    Object[] fields() {
        return new Object[] {
            "firmware",
            values.firmware,
            "nodeGuid",
            values.nodeGuid,
            "systemImageGuid",
            values.systemImageGuid,
            "vendorId",
            values.vendorId,
            "vendorPartId",
            values.vendorPartId,
            "hardwareVersion",
            values.hardwareVersion,
            "ports",
            values.ports,
            "atomics",
            values.atomics,
            "limits",
            values.limits
        };
    }
}
