package io.rdmacomm.verbs.spi;

/// Byte offsets in a receive work request, `struct ibv_recv_wr` (ibv_post_recv(3)), and in the scatter/gather
/// elements of both kinds of request, `struct ibv_sge`.
public final class ReceiveRequestLayout {
    /// Size of one request.
    public static final int BYTES = 32;
    /// The work id, 8 bytes.
    public static final int WORK_ID = 0;
    /// Address of the next request, or 0.
    public static final int NEXT = 8;
    /// Address of the scatter/gather list.
    public static final int ELEMENTS = 16;
    /// Length of the scatter/gather list.
    public static final int ELEMENT_COUNT = 24;

    /// Size of one scatter/gather element.
    public static final int ELEMENT_BYTES = 16;
    /// In an element: its address, 8 bytes.
    public static final int ELEMENT_ADDRESS = 0;
    /// In an element: its length, 4 bytes, unsigned.
    public static final int ELEMENT_LENGTH = 8;
    /// In an element: its local key.
    public static final int ELEMENT_KEY = 12;

    private ReceiveRequestLayout() {}
}
