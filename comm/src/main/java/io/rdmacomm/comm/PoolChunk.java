package io.rdmacomm.comm;

import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// One registered buffer of a pool, and the ranges of it that no slab has. Not thread-safe, except
/// [#keep()].
final class PoolChunk {
    private final RdmaBuffer buffer;
    // The length of each free range, by its offset. No two of them touch.
    private final NavigableMap<Long, Long> free = new TreeMap<>();
    private volatile boolean kept;

    PoolChunk(RdmaBuffer buffer) {
        this.buffer = buffer;
        free.put(0L, buffer.length());
    }

    RdmaBuffer buffer() {
        return buffer;
    }

    /// Takes the first free range that is long enough.
    ///
    /// @return its offset; -1 if there is none
    long carve(long bytes) {
        Map.Entry<Long, Long> range = first(bytes);
        if (range == null) {
            return -1;
        }
        long offset = range.getKey();
        long rest = range.getValue() - bytes;
        free.remove(offset);
        if (rest > 0) {
            free.put(offset + bytes, rest);
        }
        return offset;
    }

    private Map.@Nullable Entry<Long, Long> first(long bytes) {
        for (Map.Entry<Long, Long> range : free.entrySet()) {
            if (range.getValue() >= bytes) {
                return range;
            }
        }
        return null;
    }

    /// Gives a range back, and joins it with its neighbours.
    void giveBack(long offset, long bytes) {
        long begin = offset;
        long length = bytes;
        Map.Entry<Long, Long> before = free.floorEntry(offset);
        if (before != null && before.getKey() + before.getValue() == offset) {
            begin = before.getKey();
            length += before.getValue();
        }
        Long after = free.remove(offset + bytes);
        if (after != null) {
            length += after;
        }
        free.put(begin, length);
    }

    /// Keeps it registered while the pool is open. Thread-safe.
    void keep() {
        kept = true;
    }

    boolean isKept() {
        return kept;
    }

    /// Whether no slab has a part of it.
    boolean isFree() {
        Long length = free.get(0L);
        return length != null && length == buffer.length();
    }
}
