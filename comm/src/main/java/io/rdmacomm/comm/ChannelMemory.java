package io.rdmacomm.comm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/// The library's own registered memory of one channel: two ranges of the two regions that its end point
/// has.
///
/// The pool holds the receives. The cells are the only memory of the library that the peer may write to and read:
///
/// ```
///   0   how many receives the peer has posted so far, written by the peer (8 bytes, a cache line of its own)
///  64   how many receives this side has posted so far: the source of what it writes to the peer
/// 128   8 bytes for each operation slot: where atomic operations put the old value,
///       and READs that ask whether all has arrived what they read
/// ```
///
/// @param pool the buffer with the receives
/// @param poolOffset where this channel's part begins
/// @param cells the buffer with the cells
/// @param cellsOffset where this channel's part begins
record ChannelMemory(RdmaBuffer pool, long poolOffset, RdmaBuffer cells, long cellsOffset) {
    private static final long LINE = 64;
    private static final long SOURCE = LINE;
    private static final long RESULTS = 2 * LINE;
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    static long poolBytes(ChannelOptions options) {
        return blockBytes(options) * options.receives();
    }

    static long cellBytes(ChannelOptions options) {
        return aligned(RESULTS + (long) OperationRing.slots(options.sendWindow()) * Long.BYTES);
    }

    /// The distance of two receives.
    static long blockBytes(ChannelOptions options) {
        return aligned(Math.max(1, options.messageBytes()));
    }

    private static long aligned(long bytes) {
        return bytes + LINE - 1 & -LINE;
    }

    MemorySegment block(ChannelOptions options, int index) {
        return pool.segment().asSlice(poolOffset + index * blockBytes(options), Math.max(1, options.messageBytes()));
    }

    long blockAddress(ChannelOptions options, int index) {
        return pool.address() + poolOffset + index * blockBytes(options);
    }

    /// How many receives the peer has posted, as far as it has said.
    long peerReceives() {
        return (long) LONG.getAcquire(cells.segment(), cellsOffset);
    }

    void peerReceives(long count) {
        LONG.setRelease(cells.segment(), cellsOffset, count);
    }

    /// Where the peer writes its number of receives.
    long cellAddress() {
        return cells.address() + cellsOffset;
    }

    void source(long count) {
        LONG.setRelease(cells.segment(), cellsOffset + SOURCE, count);
    }

    long sourceAddress() {
        return cells.address() + cellsOffset + SOURCE;
    }

    long resultAddress(int slot) {
        return cells.address() + cellsOffset + RESULTS + (long) slot * Long.BYTES;
    }

    long result(int slot) {
        return (long) LONG.getAcquire(cells.segment(), cellsOffset + RESULTS + (long) slot * Long.BYTES);
    }
}
