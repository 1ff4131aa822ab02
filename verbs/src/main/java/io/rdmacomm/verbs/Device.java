package io.rdmacomm.verbs;

import io.rdmacomm.verbs.spi.DeviceDriver;

/// An RDMA device that can be opened (`struct ibv_device`, ibv_get_device_list(3)). Thread-safe.
public final class Device {
    private final DeviceDriver driver;

    private Device(DeviceDriver driver) {
        this.driver = driver;
    }

    /// The device of a driver; for tests of a provider, and for programs with their own driver. Other
    /// programs call [Rdma#device(String)].
    public static Device of(DeviceDriver driver) {
        return new Device(driver);
    }

    /// The device's name, for example `soft0` or `mlx5_0`.
    public String name() {
        return driver.name();
    }

    /// The name of its provider.
    public String provider() {
        return driver.provider();
    }

    /// The device's globally unique number, in host order (ibv_get_device_guid(3)).
    public long guid() {
        return driver.guid();
    }

    /// The transport of its messages.
    public TransportType transport() {
        return driver.transport();
    }

    /// Whether it is a software device of this library, and not an adapter or a driver of the system.
    public boolean isSoftware() {
        return driver.isSoftware();
    }

    /// Opens the device (ibv_open_device(3)). The caller closes the context.
    ///
    /// @throws VerbException the errno of opening it, with what to do
    public Context open() {
        return Context.of(this, driver.open());
    }

    @Override
    public String toString() {
        return "device " + name();
    }
}
