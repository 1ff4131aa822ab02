package io.rdmacomm.verbs;

/// An RDMA device that can be opened (`struct ibv_device`, ibv_get_device_list(3)). Thread-safe.
public abstract class Device {
    /// For providers.
    protected Device() {}

    /// The device's name, for example `soft0` or `mlx5_0`.
    public abstract String name();

    /// The name of its provider.
    public abstract String provider();

    /// The device's globally unique number, in host order (ibv_get_device_guid(3)).
    public abstract long guid();

    /// The transport of its messages.
    public abstract TransportType transport();

    /// Opens the device (ibv_open_device(3)). The caller closes the context.
    ///
    /// @throws VerbException the errno of opening it, with what to do
    public final Context open() {
        Context context = doOpen();
        context.begin();
        return context;
    }

    /// Opens the device for [#open()].
    protected abstract Context doOpen();

    @Override
    public final String toString() {
        return "device " + name();
    }
}
