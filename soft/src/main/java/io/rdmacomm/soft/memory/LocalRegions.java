package io.rdmacomm.soft.memory;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The memory regions of a context by key, for the scatter/gather elements of its own requests. Readers take no
/// lock: writers replace the array.
final class LocalRegions {
    private volatile @Nullable LocalRegion[] table = new @Nullable LocalRegion[16];

    /// The open region with this key, or null.
    @Nullable
    LocalRegion find(int key) {
        @Nullable LocalRegion[] now = table;
        int index = key >>> 16;
        if (index >= now.length) {
            return null;
        }
        LocalRegion region = now[index];
        return region != null && region.key() == key ? region : null;
    }

    synchronized void put(int key, @Nullable LocalRegion region) {
        int index = key >>> 16;
        @Nullable
        LocalRegion[] next =
                Arrays.copyOf(table, Math.max(table.length, Integer.highestOneBit(Math.max(1, index)) * 2));
        next[index] = region;
        table = next;
    }
}
