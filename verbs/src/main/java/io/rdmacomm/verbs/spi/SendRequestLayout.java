package io.rdmacomm.verbs.spi;

/// Byte offsets in a send work request, `struct ibv_send_wr` (ibv_post_send(3)): the format of requests in memory,
/// for every provider.
public final class SendRequestLayout {
    /// Size of one request.
    public static final int BYTES = 128;
    /// The work id, 8 bytes.
    public static final int WORK_ID = 0;
    /// Address of the next request, or 0.
    public static final int NEXT = 8;
    /// Address of the scatter/gather list.
    public static final int ELEMENTS = 16;
    /// Length of the scatter/gather list.
    public static final int ELEMENT_COUNT = 24;
    /// [io.rdmacomm.verbs.SendOpcode#code()].
    public static final int OPCODE = 28;
    /// The `FLAG_` bits.
    public static final int FLAGS = 32;
    /// Immediate data in network order, or the key to invalidate.
    public static final int IMMEDIATE = 36;
    /// Remote address, 8 bytes.
    public static final int REMOTE_ADDRESS = 40;
    /// Remote key of a READ or WRITE.
    public static final int REMOTE_KEY = 48;
    /// The value to compare with or to add, 8 bytes.
    public static final int COMPARE_ADD = 48;
    /// The value to store, 8 bytes.
    public static final int SWAP = 56;
    /// Remote key of an atomic operation.
    public static final int ATOMIC_KEY = 64;
    /// Address of the address handle of a datagram.
    public static final int ADDRESS_HANDLE = 40;
    /// Destination queue pair number of a datagram.
    public static final int DESTINATION_NUMBER = 48;
    /// Destination queue key of a datagram.
    public static final int DESTINATION_KEY = 52;
    /// Handle of the memory window to bind.
    public static final int WINDOW = 80;
    /// The new key of the window.
    public static final int WINDOW_KEY = 88;
    /// Handle of the memory region to bind the window to.
    public static final int WINDOW_REGION = 96;
    /// Address of the window, 8 bytes.
    public static final int WINDOW_ADDRESS = 104;
    /// Length of the window, 8 bytes.
    public static final int WINDOW_LENGTH = 112;
    /// Access rights of the window.
    public static final int WINDOW_ACCESS = 120;

    /// Flag: execute after all READs and atomics before this request.
    public static final int FLAG_FENCE = 1;
    /// Flag: report success with a completion.
    public static final int FLAG_SIGNALED = 2;
    /// Flag: wake a peer that waits for solicited events.
    public static final int FLAG_SOLICITED = 4;
    /// Flag: copy the payload when the request is posted.
    public static final int FLAG_INLINE = 8;

    private SendRequestLayout() {}
}
