package io.rdmacomm.nio.rsocket;

import io.rdmacomm.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;

/// Memory of this process that the peer of one connection may write (riomap and riounmap of rsocket(7)).
/// Thread-safe.
public final class Mapping implements AutoCloseable {
    private final RsConnection connection;
    private final int index;
    private final long offset;
    private final MemoryRegion region;

    /// @param index the number of its entry in the peer's table
    /// @param offset where it begins for the peer
    Mapping(RsConnection connection, int index, long offset, MemoryRegion region) {
        this.connection = connection;
        this.index = index;
        this.offset = offset;
        this.region = region;
    }

    int index() {
        return index;
    }

    /// The offset of its first byte for the peer.
    public long offset() {
        return offset;
    }

    MemoryRegion region() {
        return region;
    }

    /// The memory, which is freed when this or the connection is closed.
    public MemorySegment segment() {
        return region.segment();
    }

    /// Ends the mapping. The peer hears nothing of it: if it writes there again, its connection ends.
    @Override
    public void close() {
        connection.unmap(this);
        region.close();
    }
}
