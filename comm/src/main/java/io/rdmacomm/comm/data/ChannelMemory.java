package io.rdmacomm.comm.data;

import io.rdmacomm.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/// The library's own registered memory of one channel: two ranges of the two regions of its endpoint.
///
/// The pool holds the receives. The cells are the only memory of the library that the peer may write and read:
///
/// ```
///   0   receives that the peer has posted so far, written by the peer (8 bytes, a cache line of its own)
///  64   receives that this side has posted so far: the source of what it writes to the peer
/// 128   8 bytes for each operation slot: where atomic operations put the old value,
///       and arrival reads put what they read
/// ```
public final class ChannelMemory {
    static final long RESULTS = 128;

    private static final long SOURCE = 64;
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final ChannelSizes sizes;
    private final MemorySegment pool;
    private final long poolAddress;
    private final int poolKey;
    private final MemorySegment cells;
    private final long cellsOffset;
    private final long cellsAddress;
    private final int cellsKey;
    private final int cellsRemoteKey;

    /// @param pool the region with the receives
    /// @param poolOffset where this channel's part begins
    /// @param cells the region with the cells
    /// @param cellsOffset where this channel's part begins
    public ChannelMemory(ChannelSizes sizes, MemoryRegion pool, long poolOffset, MemoryRegion cells, long cellsOffset) {
        this.sizes = sizes;
        this.pool = pool.segment().asSlice(poolOffset, sizes.poolBytes());
        this.poolAddress = pool.address() + poolOffset;
        this.poolKey = pool.localKey();
        this.cells = cells.segment();
        this.cellsOffset = cellsOffset;
        this.cellsAddress = cells.address() + cellsOffset;
        this.cellsKey = cells.localKey();
        this.cellsRemoteKey = cells.remoteKey();
    }

    /// The memory of a receive.
    public MemorySegment block(int receive) {
        return pool.asSlice(receive * sizes.blockBytes(), blockLength());
    }

    long blockAddress(int receive) {
        return poolAddress + receive * sizes.blockBytes();
    }

    int blockLength() {
        return Math.max(1, sizes.messageBytes());
    }

    /// The local key of the receives.
    int poolKey() {
        return poolKey;
    }

    /// The number of receives that the peer has posted, as far as it has said.
    long peerReceives() {
        return (long) LONG.getAcquire(cells, cellsOffset);
    }

    void peerReceives(long count) {
        LONG.setRelease(cells, cellsOffset, count);
    }

    /// The cell where the peer writes its number of receives.
    long cellAddress() {
        return cellsAddress;
    }

    /// The key that the peer needs for the cell.
    int cellsRemoteKey() {
        return cellsRemoteKey;
    }

    int cellsKey() {
        return cellsKey;
    }

    /// The number of receives that this side has posted, for a credit update.
    void ownReceives(long count) {
        LONG.setRelease(cells, cellsOffset + SOURCE, count);
    }

    long ownReceivesAddress() {
        return cellsAddress + SOURCE;
    }

    long resultAddress(int slot) {
        return cellsAddress + RESULTS + (long) slot * Long.BYTES;
    }

    long result(int slot) {
        return (long) LONG.getAcquire(cells, cellsOffset + RESULTS + (long) slot * Long.BYTES);
    }
}
