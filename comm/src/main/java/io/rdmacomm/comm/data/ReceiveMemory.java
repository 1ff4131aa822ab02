package io.rdmacomm.comm.data;

import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ReceiveBatch;
import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The memory of receives of the same length, one after another in a region. Each has its own cache lines.
public final class ReceiveMemory {
    private static final long LINE = 64;

    private final Supplier<MemoryRegion> region;
    private final long offset;
    private final long bytes;
    private final long stride;
    private final int length;
    private @Nullable MemorySegment segment;
    private long address;
    private int key;

    /// Allocates no memory yet.
    ///
    /// @param region provides the region for the receives when the first one is needed
    /// @param offset the offset of the receives in the region
    /// @param count how many there are
    /// @param messageBytes the longest message
    public ReceiveMemory(Supplier<MemoryRegion> region, long offset, int count, int messageBytes) {
        this.region = region;
        this.offset = offset;
        this.bytes = bytes(count, messageBytes);
        this.stride = bytes(1, messageBytes);
        this.length = Math.max(1, messageBytes);
    }

    /// The same in an existing region.
    public ReceiveMemory(MemoryRegion region, long offset, int count, int messageBytes) {
        this(() -> region, offset, count, messageBytes);
        provide();
    }

    /// Obtains the region, unless that was done before.
    void provide() {
        var _ = segment();
    }

    private MemorySegment segment() {
        MemorySegment known = segment;
        if (known == null) {
            MemoryRegion from = region.get();
            address = from.address() + offset;
            key = from.localKey();
            known = from.segment().asSlice(offset, bytes);
            segment = known;
        }
        return known;
    }

    /// The memory that `count` receives need for messages of at most `messageBytes`.
    public static long bytes(int count, int messageBytes) {
        return (Math.max(1, messageBytes) + LINE - 1 & -LINE) * count;
    }

    /// The memory of a receive.
    MemorySegment block(int receive) {
        return segment().asSlice(receive * stride, length);
    }

    /// Appends a receive to a batch. Call [#provide] first.
    ///
    /// @param workId the number that its completion carries
    void append(ReceiveBatch batch, long workId, int receive) {
        batch.receive(workId).with(address + receive * stride, length, key);
    }
}
