package io.rdmacomm.soft.mapped;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// The keys of a context, for its owner. Peers read the entries directly to check their operations.
///
/// A key consists of the index of its entry (16 bits), which is one of at least 256 free ones, and a tag (16 bits).
/// Both are random, so that known keys do not help to guess others. The tag changes each time the entry is reused, so
/// that an old key gives no access to new memory. Control path only.
public final class KeyTable {
    /// The key is that of a memory region.
    public static final int REGION = 1;
    /// The key is that of a bound memory window.
    public static final int WINDOW = 2;

    private static final int INDEX_MASK = ControlLayout.KEY_COUNT - 1;
    /// A divisor of the number of entries.
    private static final int LEAST_FREE = 256;

    private final ControlFile file;
    private final MemorySegment memory;
    private final SecretNumbers secrets = new SecretNumbers();
    private final short[] free = new short[ControlLayout.KEY_COUNT];
    private int freeCount;
    private final short[] tags = new short[ControlLayout.KEY_COUNT];
    // Not read from the file, which peers can write to.
    private final int[] serials = new int[ControlLayout.KEY_COUNT];
    private int used;

    /// The table in a control file.
    public KeyTable(ControlFile file) {
        this.file = file;
        this.memory = file.memory();
    }

    /// Takes a free entry and makes a key of it that is not valid yet.
    ///
    /// @throws IOException if there is no free entry
    public synchronized int allocate() throws IOException {
        // Entries are not reused at once, and the next one cannot be predicted.
        if (freeCount < LEAST_FREE && used < ControlLayout.KEY_COUNT) {
            grow();
        }
        if (freeCount == 0) {
            throw new NoRoomException(
                    "all " + ControlLayout.KEY_COUNT + " keys of this context are in use",
                    "close regions or windows, or open another context");
        }
        int secret = secrets.next();
        int at = Integer.remainderUnsigned(secret >>> 16, freeCount);
        int index = free[at] & INDEX_MASK;
        free[at] = free[--freeCount];
        short tag = (short) secret;
        tags[index] = tag == tags[index] ? (short) (tag + 1) : tag;
        return (index << 16) | (tags[index] & 0xffff);
    }

    /// Adds entries at the end of the table. What follows is a hole in the file.
    private void grow() throws IOException {
        file.reserve(ControlLayout.key(used << 16), (long) LEAST_FREE * ControlLayout.KEY_BYTES);
        for (int i = 0; i < LEAST_FREE; i++) {
            free[freeCount++] = (short) used++;
        }
        SharedWords.publishInt(memory, ControlLayout.HEADER_KEYS, used);
    }

    /// Frees the entry of a key, which must have been revoked.
    public synchronized void free(int key) {
        // The user chooses the low byte of a window's key, so the last valid key counts, and not the first.
        tags[key >>> 16] = (short) key;
        free[freeCount++] = (short) (key >>> 16);
    }

    /// Fills the entry of a key and makes it valid.
    ///
    /// @param kind [#REGION] or [#WINDOW]
    public void grant(int key, int kind, Grant grant) {
        long entry = ControlLayout.key(key);
        SharedWords.release(memory, entry + ControlLayout.KEY_ADDRESS, grant.address());
        SharedWords.release(memory, entry + ControlLayout.KEY_LENGTH, grant.length());
        SharedWords.releaseInt(memory, entry + ControlLayout.KEY_ACCESS, grant.access());
        SharedWords.releaseInt(memory, entry + ControlLayout.KEY_DOMAIN, grant.domain());
        SharedWords.release(memory, entry + ControlLayout.KEY_FILE, grant.file());
        SharedWords.release(memory, entry + ControlLayout.KEY_FILE_OFFSET, grant.fileOffset());
        SharedWords.releaseInt(memory, entry + ControlLayout.KEY_QUEUE_PAIR, grant.queuePair());
        SharedWords.releaseInt(memory, entry + ControlLayout.KEY_REGION, grant.region());
        SharedWords.releaseInt(memory, entry + ControlLayout.KEY_FILE_KEY, grant.fileKey());
        SharedWords.releaseInt(memory, entry + ControlLayout.KEY_SERIAL, ++serials[key >>> 16]);
        SharedWords.publish(memory, entry + ControlLayout.KEY_WORD, word(key, kind));
    }

    /// Makes a key invalid; operations in flight may still continue.
    public void revoke(int key) {
        SharedWords.publish(memory, ControlLayout.key(key) + ControlLayout.KEY_WORD, 0);
    }

    /// The file that the entry of a key stands for was removed. The key must have been revoked.
    public void forgetFile(int key) {
        SharedWords.publish(memory, ControlLayout.key(key) + ControlLayout.KEY_FILE, 0);
    }

    /// The word that an entry holds while `key` is valid.
    public static long word(int key, int kind) {
        return ((long) kind << 32) | Integer.toUnsignedLong(key);
    }

    /// The rights that a key gives.
    ///
    /// @param address first address
    /// @param length length in bytes
    /// @param access rights
    /// @param domain number of the protection domain
    /// @param file number of the region's file, negative for a file of the program; 0 when only the owner can
    ///     access the memory
    /// @param fileKey the key whose entry stands for the file
    /// @param fileOffset where in the file the first address is
    /// @param queuePair the only queue pair that may use it, 0 for all
    /// @param region key of the region behind it
    public record Grant(
            long address,
            long length,
            int access,
            int domain,
            long file,
            int fileKey,
            long fileOffset,
            int queuePair,
            int region) {}
}
