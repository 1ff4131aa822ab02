package io.rdmacomm.examples;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32C;

/// An entry of the table of a [KeyValueServer], or the copy of one at a client.
///
/// ```
/// offset  0  lock: the number of the client that is writing, or 0
///         8  checksum of what follows
///        16  version: how often the entry was written
///        24  length of the value
///        32  value
/// ```
final class KeyValueEntry {
    static final int BYTES = 4096;
    static final int LOCK = 0;
    /// The offset of the part that clients read and write.
    static final int CONTENT = 8;

    private static final int VERSION = 16;
    private static final int LENGTH = 24;
    private static final int VALUE = 32;

    private final MemorySegment memory;

    KeyValueEntry(MemorySegment memory) {
        this.memory = memory;
    }

    /// Converts a value.
    ///
    /// @throws IllegalArgumentException if it is too long for an entry
    static byte[] encode(String value) {
        byte[] bytes = value.getBytes(UTF_8);
        if (bytes.length > BYTES - VALUE) {
            throw new IllegalArgumentException(
                    "the value has " + bytes.length + " bytes, an entry has room for " + (BYTES - VALUE));
        }
        return bytes;
    }

    void write(long version, byte[] value) {
        memory.set(JAVA_LONG, VERSION, version);
        memory.set(JAVA_LONG, LENGTH, value.length);
        MemorySegment.copy(value, 0, memory, JAVA_BYTE, VALUE, value.length);
        memory.set(JAVA_LONG, CONTENT, checksum());
    }

    /// Whether all of it is from the same write. A READ does not stop a WRITE to the same memory: it may see some
    /// old and some new bytes.
    boolean isIntact() {
        return memory.get(JAVA_LONG, CONTENT) == checksum();
    }

    long version() {
        return memory.get(JAVA_LONG, VERSION);
    }

    String value() {
        byte[] bytes = memory.asSlice(VALUE, memory.get(JAVA_LONG, LENGTH)).toArray(JAVA_BYTE);
        return new String(bytes, UTF_8);
    }

    /// The number of the client that has locked it; 0 if none has.
    long owner() {
        return (long) JAVA_LONG.varHandle().getAcquire(memory, (long) LOCK);
    }

    /// Unlocks it on behalf of a client that has ended.
    void unlock() {
        JAVA_LONG.varHandle().setRelease(memory, (long) LOCK, 0L);
    }

    private long checksum() {
        CRC32C checksum = new CRC32C();
        checksum.update(memory.asSlice(VERSION).asByteBuffer());
        return checksum.getValue();
    }
}
