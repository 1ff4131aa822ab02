package io.rdmacomm.ibverbs.objects;

import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.ibverbs.ffm.Pages;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Memory that belongs to a region: pages of its own.
final class OwnedMemory {
    private final long address;
    private final long bytes;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment segment;

    private OwnedMemory(long address, long bytes) {
        this.address = address;
        this.bytes = bytes;
        this.segment = NativeMemory.at(address, bytes, arena);
    }

    /// Zeroed memory that begins at a page; null if the system has not enough.
    static @Nullable OwnedMemory allocate(long bytes) {
        long address = Pages.map(bytes);
        return address == 0 ? null : new OwnedMemory(address, bytes);
    }

    /// The memory, until [#close()].
    MemorySegment segment() {
        return segment;
    }

    /// Ends the use of the segment; the memory itself stays.
    void close() {
        arena.close();
    }

    /// Gives the memory back to the system, and keeps only the addresses.
    void discard() {
        var _ = Pages.discard(address, bytes);
    }

    /// Gives memory and addresses back to the system.
    void free() {
        Pages.unmap(address, bytes);
    }
}
