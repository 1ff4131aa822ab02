package io.rdmacomm.verbs;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/// The identity and limits of a device (`struct ibv_device_attr`, ibv_query_device(3)).
///
/// @param firmware the firmware version
/// @param nodeGuid the device's globally unique number
/// @param systemImageGuid the number that all devices of one machine share
/// @param vendorId the vendor's number
/// @param vendorPartId the vendor's part number
/// @param hardwareVersion the hardware's version
/// @param ports the number of ports
/// @param atomics the scope in which remote atomics are atomic
/// @param limits the device's limits, without those that the provider does not know
public record DeviceAttributes(
        String firmware,
        long nodeGuid,
        long systemImageGuid,
        int vendorId,
        int vendorPartId,
        int hardwareVersion,
        int ports,
        AtomicCapability atomics,
        Map<DeviceLimit, Long> limits) {
    /// Copies the limits.
    public DeviceAttributes {
        limits = Collections.unmodifiableMap(new EnumMap<>(limits));
    }

    /// The value of `limit`; 0 if the provider does not know it.
    public long limit(DeviceLimit limit) {
        return limits.getOrDefault(limit, 0L);
    }
}
