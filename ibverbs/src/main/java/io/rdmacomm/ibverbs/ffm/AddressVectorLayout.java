package io.rdmacomm.ibverbs.ffm;

/// Byte offsets in the path to a peer, `struct ibv_ah_attr` (ibv_create_ah(3)).
public final class AddressVectorLayout {
    /// Size of the struct.
    public static final int BYTES = 32;
    /// The peer's GID, 16 bytes.
    public static final int DESTINATION_GID = 0;
    /// Flow label.
    public static final int FLOW_LABEL = 16;
    /// Index of the own GID, 1 byte.
    public static final int SOURCE_GID_INDEX = 20;
    /// Hop limit, 1 byte.
    public static final int HOP_LIMIT = 21;
    /// Traffic class, 1 byte.
    public static final int TRAFFIC_CLASS = 22;
    /// The peer's local identifier, 2 bytes.
    public static final int DESTINATION_LID = 24;
    /// Service level, 1 byte.
    public static final int SERVICE_LEVEL = 26;
    /// Low bits of the own local identifier, 1 byte.
    public static final int SOURCE_PATH_BITS = 27;
    /// Limit of the speed, `enum ibv_rate`, 1 byte.
    public static final int STATIC_RATE = 28;
    /// Whether there is a global routing header, 1 byte.
    public static final int IS_GLOBAL = 29;
    /// Port, 1 byte.
    public static final int PORT = 30;

    private AddressVectorLayout() {}
}
