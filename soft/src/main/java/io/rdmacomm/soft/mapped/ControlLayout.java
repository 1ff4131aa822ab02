package io.rdmacomm.soft.mapped;

/// The layout of a context's control file, which peers map.
///
/// ```
/// 0x000000  header: magic, version, GID, LID, identity
/// 0x010000  queue pair table: 4096 blocks of 256 bytes
/// 0x200000  key table: 65536 entries of 64 bytes
/// 0x800000  heap: completion queues, bells, receive queues and their lines, staging blocks
/// ```
/// The file is sparse; only pages in use take memory.
public final class ControlLayout {
    /// First word of the file: "rdmacomm".
    public static final long MAGIC = 0x6d6d6f63616d6472L;
    /// Version of this layout.
    public static final int VERSION = 11;

    /// Header: [#MAGIC].
    public static final long HEADER_MAGIC = 0;
    /// Header: [#VERSION], 4 bytes.
    public static final long HEADER_VERSION = 8;
    /// Header: the context's LID, 4 bytes.
    public static final long HEADER_LID = 12;
    /// Header: first half of the context's GID.
    public static final long HEADER_GID_HIGH = 16;
    /// Header: second half of the context's GID.
    public static final long HEADER_GID_LOW = 24;

    /// Header: 1 if other contexts may connect over shared memory, 4 bytes.
    public static final long HEADER_SHARED = 32;
    /// Header: a random number that no other context has, first half.
    public static final long HEADER_IDENTITY_HIGH = 40;
    /// Header: its second half.
    public static final long HEADER_IDENTITY_LOW = 48;

    /// Header: the number of entries in the key table, 4 bytes. The rest of the table is a hole in the file, which
    /// must not be accessed.
    public static final long HEADER_KEYS = 64;
    /// Header: how many files of regions were removed.
    public static final long HEADER_REGIONS_GONE = 72;

    /// Where the queue pair table begins.
    public static final long QUEUE_PAIRS = 0x10000;
    /// Blocks in the queue pair table.
    public static final int QUEUE_PAIR_COUNT = 4096;
    /// Size of a block.
    public static final int QUEUE_PAIR_BYTES = 256;

    /// Queue pair: number (4 bytes), state code (1 byte), and how often it was in RESET (3 bytes). Peers read it
    /// before each operation.
    public static final int QP_IDENTITY = 0;
    /// Queue pair: the peer's number, 4 bytes.
    public static final int QP_DESTINATION = 8;
    /// Queue pair: the expected packet sequence number, 4 bytes.
    public static final int QP_RECEIVE_PSN = 12;
    /// Queue pair: first half of the peer's GID.
    public static final int QP_GID_HIGH = 16;
    /// Queue pair: second half of the peer's GID.
    public static final int QP_GID_LOW = 24;
    /// Queue pair: the peer's LID, 4 bytes.
    public static final int QP_LID = 32;
    /// Queue pair: number of the protection domain, 4 bytes.
    public static final int QP_DOMAIN = 36;
    /// Queue pair: access rights of the peer, 4 bytes.
    public static final int QP_ACCESS = 40;
    /// Queue pair: code of the receiver-not-ready timer, 4 bytes.
    public static final int QP_RNR_TIMER = 44;
    /// Queue pair: where the receive ring is.
    public static final int QP_RECEIVE_RING = 48;
    /// Queue pair: where the completion queue of receives is.
    public static final int QP_RECEIVE_COMPLETIONS = 56;
    /// Queue pair: 1 while its owner uses shared memory to reach the peer, 4 bytes; otherwise it connects over TCP.
    /// Peers use the block only while this is 1.
    public static final int QP_ON_HOST = 64;
    /// Queue pair: odd while its owner carries out operations on its peer's memory.
    public static final int QP_EXECUTING = 128;
    /// Queue pair: the receive of the peer that its owner is filling, plus one; 0 for none.
    public static final int QP_JOURNAL_RECEIVE = 136;
    /// Queue pair: the work id of that receive.
    public static final int QP_JOURNAL_WORK_ID = 144;
    /// Queue pair: the completion slot of the peer that its owner is filling, plus one; 0 for none.
    public static final int QP_JOURNAL_COMPLETION = 152;

    /// Where the key table begins.
    public static final long KEYS = 0x200000;
    /// Entries in the key table.
    public static final int KEY_COUNT = 65536;
    /// Size of an entry.
    public static final int KEY_BYTES = 64;

    /// Key entry: the key (low half) and its kind (high half); 0 when it is not valid.
    public static final int KEY_WORD = 0;
    /// Key entry: first address.
    public static final int KEY_ADDRESS = 8;
    /// Key entry: length in bytes.
    public static final int KEY_LENGTH = 16;
    /// Key entry: rights, 4 bytes.
    public static final int KEY_ACCESS = 24;
    /// Key entry: number of the protection domain, 4 bytes.
    public static final int KEY_DOMAIN = 28;
    /// Key entry: number of the region's file, negative for a file of the program; 0 when only its owner can
    /// access the memory.
    public static final int KEY_FILE = 32;
    /// Key entry: where in the file the first address is.
    public static final int KEY_FILE_OFFSET = 40;
    /// Key entry: number of the only queue pair that may use it, 4 bytes; 0 for all of the protection domain.
    public static final int KEY_QUEUE_PAIR = 48;
    /// Key entry: key of the region that a window is bound to, 4 bytes.
    public static final int KEY_REGION = 52;
    /// Key entry: the key whose entry stands for the file, 4 bytes: that has its number in [#KEY_FILE] until it is
    /// removed, even when it is no longer valid itself.
    public static final int KEY_FILE_KEY = 56;
    /// Key entry: how often the entry was filled, 4 bytes.
    public static final int KEY_SERIAL = 60;

    /// Where the heap begins.
    public static final long HEAP = 0x800000;
    /// Size of the file.
    public static final long FILE_BYTES = 1L << 30;

    /// Everything in the heap begins at a multiple of this: a cache line.
    static final int LINE = 64;

    private ControlLayout() {}

    /// Where the block of the queue pair with this number is.
    public static long queuePair(int number) {
        return QUEUE_PAIRS + (long) (number & (QUEUE_PAIR_COUNT - 1)) * QUEUE_PAIR_BYTES;
    }

    /// Where the entry of this key is.
    public static long key(int key) {
        return KEYS + (long) (key >>> 16) * KEY_BYTES;
    }

    /// Whether something of this size can begin at `offset` in the heap.
    static boolean isInHeap(long offset, long bytes) {
        return offset >= HEAP && offset <= FILE_BYTES - bytes && (offset & (LINE - 1)) == 0;
    }
}
