package io.rdmacomm.verbs;

import java.util.Objects;

/// Memory of a peer, for one-sided operations: the peer's [MemoryRegion#remote()].
///
/// @param address its address at the peer
/// @param length its length in bytes
/// @param key the peer's remote key
public record RemoteMemory(long address, long length, int key) {
    /// Checks the length.
    public RemoteMemory {
        Checks.range("length of remote memory", length, 0, Long.MAX_VALUE);
    }

    /// The `size` bytes from `offset` on.
    public RemoteMemory slice(long offset, long size) {
        Objects.checkFromIndexSize(offset, size, length);
        return new RemoteMemory(address + offset, size, key);
    }
}
