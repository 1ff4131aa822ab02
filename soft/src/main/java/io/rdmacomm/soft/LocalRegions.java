package io.rdmacomm.soft;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The memory regions of a context by key, for the scatter/gather elements of its own requests. Readers take no
/// lock: writers replace the array.
final class LocalRegions {
    private volatile @Nullable SoftMemoryRegion[] table = new @Nullable SoftMemoryRegion[16];

    /// The open region with this key, or null.
    @Nullable
    SoftMemoryRegion find(int key) {
        @Nullable SoftMemoryRegion[] now = table;
        int index = key >>> 16;
        if (index >= now.length) {
            return null;
        }
        SoftMemoryRegion region = now[index];
        return region != null && region.localKey() == key ? region : null;
    }

    synchronized void put(int key, @Nullable SoftMemoryRegion region) {
        int index = key >>> 16;
        @Nullable
        SoftMemoryRegion[] next =
                Arrays.copyOf(table, Math.max(table.length, Integer.highestOneBit(Math.max(1, index)) * 2));
        next[index] = region;
        table = next;
    }
}
