package io.rdmacomm.comm.data;

import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ReceiveBatch;
import java.lang.foreign.MemorySegment;

/// The memory of receives of the same length, one behind the other in a region. Each begins in a cache line of its
/// own.
public final class ReceiveMemory {
    private static final long LINE = 64;

    private final MemorySegment segment;
    private final long address;
    private final int key;
    private final long stride;
    private final int length;

    /// @param region holds them
    /// @param offset where in it they begin
    /// @param count how many there are
    /// @param messageBytes the longest message
    public ReceiveMemory(MemoryRegion region, long offset, int count, int messageBytes) {
        this.segment = region.segment().asSlice(offset, bytes(count, messageBytes));
        this.address = region.address() + offset;
        this.key = region.localKey();
        this.stride = bytes(1, messageBytes);
        this.length = Math.max(1, messageBytes);
    }

    /// The memory that `count` receives need for messages of at most `messageBytes`.
    public static long bytes(int count, int messageBytes) {
        return (Math.max(1, messageBytes) + LINE - 1 & -LINE) * count;
    }

    /// The memory of a receive.
    MemorySegment block(int receive) {
        return segment.asSlice(receive * stride, length);
    }

    /// Appends a receive to those that are going to be posted.
    ///
    /// @param workId the number that its completion carries
    void append(ReceiveBatch batch, long workId, int receive) {
        batch.receive(workId).with(address + receive * stride, length, key);
    }
}
