package io.rdmacomm.nio.rsocket;

import io.rdmacomm.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/// Memory of this process that the peer of one connection may write (riomap and riounmap of rsocket(7)).
/// Thread-safe.
public final class Mapping implements AutoCloseable {
    private final Consumer<Mapping> closer;
    private final int index;
    private final long offset;
    private final MemoryRegion region;

    /// @param index the number of its entry in the peer's table
    /// @param offset the offset at which the peer writes to it
    /// @param closer called when it is closed
    Mapping(int index, long offset, MemoryRegion region, Consumer<Mapping> closer) {
        this.closer = closer;
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

    /// Ends the mapping. The peer is not notified: if it writes there again, its connection ends.
    @Override
    public void close() {
        closer.accept(this);
        region.close();
    }
}
