package io.rdmacomm.ibverbs.ffm;

/// Byte offsets in a device that can be opened, `struct ibv_device`.
public final class DeviceLayout {
    /// Size of the struct.
    public static final int BYTES = 664;
    /// `enum ibv_transport_type`.
    public static final int TRANSPORT = 20;
    /// Its name, for example `mlx5_0`.
    public static final int NAME = 24;
    /// The name of its file, for example `uverbs0`.
    public static final int FILE_NAME = 88;
    /// Size of each of the names.
    public static final int NAME_BYTES = 64;

    private DeviceLayout() {}
}
