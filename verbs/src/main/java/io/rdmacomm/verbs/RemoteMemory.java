package io.rdmacomm.verbs;

import java.util.Objects;

/// Memory of a peer as this side names it in one-sided operations.
///
/// @param address where it begins in the peer's address space
/// @param length its length in bytes
/// @param key the peer's remote key
public record RemoteMemory(long address, long length, int key) {
    /// Checks the length.
    public RemoteMemory {
        Checks.range("length of remote memory", length, 0, Long.MAX_VALUE);
    }

    /// The `size` bytes that begin `offset` bytes into this memory.
    public RemoteMemory slice(long offset, long size) {
        Objects.checkFromIndexSize(offset, size, length);
        return new RemoteMemory(address + offset, size, key);
    }
}
