package io.rdmacomm.verbs;

import java.nio.ByteBuffer;
import java.util.Objects;

/// Memory of a peer, for one-sided operations: the peer's [MemoryRegion#remote()].
///
/// [#toBytes()] writes it as 20 bytes in network order, to be exchanged over any connection: address, length,
/// and the key in the last 4.
///
/// @param address its address at the peer
/// @param length its length in bytes
/// @param key the peer's remote key
public record RemoteMemory(long address, long length, int key) {
    /// The number of bytes that [#toBytes()] returns.
    public static final int BYTES = 20;

    /// Checks the length.
    public RemoteMemory {
        Checks.range("length of remote memory", length, 0, Long.MAX_VALUE);
    }

    /// The `size` bytes from `offset` on.
    public RemoteMemory slice(long offset, long size) {
        Objects.checkFromIndexSize(offset, size, length);
        return new RemoteMemory(address + offset, size, key);
    }

    /// The bytes for a peer.
    public byte[] toBytes() {
        return ByteBuffer.allocate(BYTES)
                .putLong(address)
                .putLong(length)
                .putInt(key)
                .array();
    }

    /// Decodes the [#toBytes()] of a peer. Untrusted bytes can only cause this exception, or describe memory
    /// that does not exist, and then the first operation on it fails.
    ///
    /// @throws IllegalArgumentException if there are not [#BYTES] bytes, the length is negative, or the
    ///         memory would exceed the last address
    public static RemoteMemory ofBytes(byte[] bytes) {
        Checks.range("bytes of remote memory", bytes.length, BYTES, BYTES);
        ByteBuffer from = ByteBuffer.wrap(bytes);
        RemoteMemory memory = new RemoteMemory(from.getLong(), from.getLong(), from.getInt());
        if (memory.length > 0 && Long.compareUnsigned(memory.address + (memory.length - 1), memory.address) < 0) {
            throw new IllegalArgumentException(memory + " exceeds the last address");
        }
        return memory;
    }
}
