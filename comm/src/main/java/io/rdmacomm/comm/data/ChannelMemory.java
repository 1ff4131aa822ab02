package io.rdmacomm.comm.data;

import io.rdmacomm.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/// The cells of one channel, in the region of its endpoint: the only memory of a session, apart from the program's
/// buffers, that the peer may write and read.
///
/// ```
///   0   receives that the peer has posted so far, written by the peer (8 bytes, its own cache line)
///  64   receives that this side has posted so far: the source of what it writes to the peer
/// 128   8 bytes for each operation slot: where atomic operations put the old value,
///       and arrival reads put what they read
/// ```
public final class ChannelMemory {
    static final long RESULTS = 128;

    private static final long SOURCE = 64;
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final MemorySegment cells;
    private final long cellsOffset;
    private final long cellsAddress;
    private final int cellsKey;
    private final int cellsRemoteKey;

    /// @param cells the region with the cells
    /// @param cellsOffset the offset of this channel's part
    public ChannelMemory(MemoryRegion cells, long cellsOffset) {
        this.cells = cells.segment();
        this.cellsOffset = cellsOffset;
        this.cellsAddress = cells.address() + cellsOffset;
        this.cellsKey = cells.localKey();
        this.cellsRemoteKey = cells.remoteKey();
    }

    /// The number of receives that the peer has posted, according to its last update.
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
