package io.rdmacomm.verbs.spi;

/// Byte offsets in a completion, `struct ibv_wc` (ibv_poll_cq(3)): the format of completions in memory, for every
/// provider.
public final class CompletionLayout {
    /// Size of one completion.
    public static final int BYTES = 48;
    /// The work id, 8 bytes.
    public static final int WORK_ID = 0;
    /// [io.rdmacomm.verbs.WorkStatus#code()].
    public static final int STATUS = 8;
    /// [io.rdmacomm.verbs.CompletionOpcode#code()].
    public static final int OPCODE = 12;
    /// A bit of the opcode: a receive completed (IBV_WC_RECV).
    public static final int OPCODE_RECEIVE = 1 << 7;
    /// The provider's own error code.
    public static final int VENDOR_ERROR = 16;
    /// The number of bytes transferred.
    public static final int BYTE_LENGTH = 20;
    /// Immediate data in network order, or the key that was invalidated.
    public static final int IMMEDIATE = 24;
    /// The local queue pair's number.
    public static final int QUEUE_PAIR_NUMBER = 28;
    /// The sender's queue pair number, for datagrams.
    public static final int SOURCE_QUEUE_PAIR = 32;
    /// The `FLAG_` bits.
    public static final int FLAGS = 36;
    /// Partition key index, 2 bytes.
    public static final int PARTITION_KEY_INDEX = 40;
    /// The sender's local identifier, 2 bytes.
    public static final int SOURCE_LID = 42;
    /// Service level, 1 byte.
    public static final int SERVICE_LEVEL = 44;

    /// Flag: the receive buffer begins with a 40-byte global routing header.
    public static final int FLAG_GLOBAL_ROUTE = 1;
    /// Flag: there is immediate data.
    public static final int FLAG_IMMEDIATE = 2;
    /// Flag: a key was invalidated.
    public static final int FLAG_INVALIDATED = 8;

    private CompletionLayout() {}
}
