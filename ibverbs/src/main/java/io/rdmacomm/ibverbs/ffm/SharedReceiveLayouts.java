package io.rdmacomm.ibverbs.ffm;

/// Byte offsets in the structs that create a shared receive queue, `struct ibv_srq_init_attr`, and query it,
/// `struct ibv_srq_attr` (ibv_create_srq(3)).
public final class SharedReceiveLayouts {
    /// Size of the struct for creation.
    public static final int INIT_BYTES = 24;
    /// In the struct for creation: the attributes.
    public static final int INIT_ATTRIBUTES = 8;

    /// Size of the attributes.
    public static final int ATTRIBUTES_BYTES = 12;
    /// In the attributes: depth.
    public static final int RECEIVES = 0;
    /// In the attributes: elements of a receive.
    public static final int ELEMENTS = 4;
    /// In the attributes: the limit.
    public static final int LIMIT = 8;

    /// `IBV_SRQ_MAX_WR`, the mask bit for changing the depth.
    public static final int MASK_RECEIVES = 1;
    /// `IBV_SRQ_LIMIT`, the mask bit for arming the limit.
    public static final int MASK_LIMIT = 2;

    private SharedReceiveLayouts() {}
}
