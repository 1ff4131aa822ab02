package io.rdmacomm.verbs.spi;

import io.rdmacomm.verbs.TransportType;

/// A device that can be opened ([io.rdmacomm.verbs.Device]). Thread-safe.
public interface DeviceDriver {
    /// The device's name, for example `soft0` or `mlx5_0`.
    String name();

    /// The name of its provider.
    String provider();

    /// The device's globally unique number, in host order (ibv_get_device_guid(3)).
    long guid();

    /// The transport of its messages.
    TransportType transport();

    /// Whether it is a software device of this library, which sends to any IP address that a GID names.
    default boolean isSoftware() {
        return false;
    }

    /// Opens the device (ibv_open_device(3)).
    ///
    /// @throws io.rdmacomm.verbs.VerbException the errno of opening it, with what to do
    ContextDriver open();
}
