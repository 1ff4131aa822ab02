package io.rdmacomm.soft.mapped;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/// A copy of the entry that a key has in a peer's [KeyTable]. While the entry was not filled again, only its word can
/// change, so the rest is not read again. One thread at a time.
public final class PeerKey {
    private final MemorySegment memory;
    private long word;
    private int access;
    private int domain;
    private int onlyFor;
    private int region;
    private long address;
    private long length;
    private long file;
    private int fileKey;
    private long fileOffset;
    private int serial;

    /// No key yet.
    ///
    /// @param memory the peer's control file
    public PeerKey(MemorySegment memory) {
        this.memory = memory;
    }

    /// Copies the entry of `key`, unless this is its copy already.
    ///
    /// @return whether the key is valid
    public boolean load(int key) {
        long entry = ControlLayout.key(key);
        if (word == KeyTable.word(key, KeyTable.REGION)
                && SharedWords.acquire(memory, entry + ControlLayout.KEY_WORD) == word
                && SharedWords.opaqueInt(memory, entry + ControlLayout.KEY_SERIAL) == serial) {
            // Without the serial number, it could be the same key again for something else.
            return true;
        }
        return read(key, entry);
    }

    private boolean read(int key, long entry) {
        word = 0;
        if ((key >>> 16) >= SharedWords.opaqueInt(memory, ControlLayout.HEADER_KEYS)) {
            return false;
        }
        long seen = SharedWords.acquire(memory, entry + ControlLayout.KEY_WORD);
        if ((int) seen != key || seen >>> 32 == 0) {
            return false;
        }
        onlyFor = memory.get(JAVA_INT, entry + ControlLayout.KEY_QUEUE_PAIR);
        domain = memory.get(JAVA_INT, entry + ControlLayout.KEY_DOMAIN);
        access = memory.get(JAVA_INT, entry + ControlLayout.KEY_ACCESS);
        address = memory.get(JAVA_LONG, entry + ControlLayout.KEY_ADDRESS);
        length = memory.get(JAVA_LONG, entry + ControlLayout.KEY_LENGTH);
        file = memory.get(JAVA_LONG, entry + ControlLayout.KEY_FILE);
        fileKey = memory.get(JAVA_INT, entry + ControlLayout.KEY_FILE_KEY);
        fileOffset = memory.get(JAVA_LONG, entry + ControlLayout.KEY_FILE_OFFSET);
        serial = memory.get(JAVA_INT, entry + ControlLayout.KEY_SERIAL);
        region = memory.get(JAVA_INT, entry + ControlLayout.KEY_REGION);
        VarHandle.acquireFence();
        if (SharedWords.opaque(memory, entry + ControlLayout.KEY_WORD) != seen) {
            // Revoked during the read: the fields may already describe the next key.
            return false;
        }
        word = seen;
        return true;
    }

    /// Whether it is the key of a region, and not of a window.
    public boolean isOfRegion() {
        return word >>> 32 == KeyTable.REGION;
    }

    /// Whether a queue pair of this protection domain may use it for this.
    ///
    /// @param right as a bit
    public boolean allows(int queuePair, int itsDomain, int right) {
        return domain == itsDomain && (access & right) != 0 && (onlyFor == 0 || onlyFor == queuePair);
    }

    /// Whether `[from, from + bytes)` lies inside.
    public boolean contains(long from, long bytes) {
        long offset = from - address;
        return offset >= 0 && offset <= length - bytes;
    }

    /// Where `target` is in the file, or in the region if it has no file; the caller has checked that it lies inside.
    public long offsetOf(long target) {
        return fileOffset + (target - address);
    }

    /// The number of the region's file, negative for a file of the peer's program, which this process may not be
    /// able to map; 0 if only its owner can reach the memory.
    public long file() {
        return file;
    }

    /// The key whose entry stands for that file.
    public int fileKey() {
        return fileKey;
    }

    /// The key of the region.
    public int region() {
        return region;
    }
}
