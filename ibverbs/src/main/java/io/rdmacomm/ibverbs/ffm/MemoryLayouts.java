package io.rdmacomm.ibverbs.ffm;

/// Byte offsets in a memory region, `struct ibv_mr`, a memory window, `struct ibv_mw`, and the binding of one to
/// the other, `struct ibv_mw_bind` (ibv_bind_mw(3)).
public final class MemoryLayouts {
    /// Size of a region.
    public static final int REGION_BYTES = 48;
    /// In a region: the local key.
    public static final int REGION_LOCAL_KEY = 36;
    /// In a region: the remote key.
    public static final int REGION_REMOTE_KEY = 40;

    /// Size of a window.
    public static final int WINDOW_BYTES = 32;
    /// In a window: the remote key.
    public static final int WINDOW_REMOTE_KEY = 16;

    /// Size of a binding.
    public static final int BIND_BYTES = 48;
    /// In a binding: the work request id, 8 bytes.
    public static final int BIND_WORK_ID = 0;
    /// In a binding: send flags.
    public static final int BIND_FLAGS = 8;
    /// In a binding: the region, a pointer.
    public static final int BIND_REGION = 16;
    /// In a binding: where the window begins, 8 bytes.
    public static final int BIND_ADDRESS = 24;
    /// In a binding: the window's length, 8 bytes.
    public static final int BIND_LENGTH = 32;
    /// In a binding: the window's rights.
    public static final int BIND_ACCESS = 40;

    /// Flag of ibv_rereg_mr(3): other memory.
    public static final int REREGISTER_TRANSLATION = 1;
    /// Flag of ibv_rereg_mr(3): another protection domain.
    public static final int REREGISTER_DOMAIN = 2;
    /// Flag of ibv_rereg_mr(3): other rights.
    public static final int REREGISTER_ACCESS = 4;

    private MemoryLayouts() {}
}
