package io.rdmacomm.soft.mapped;

import static io.rdmacomm.soft.mapped.ReceiveRing.ENTRIES;
import static io.rdmacomm.soft.mapped.ReceiveRing.FIRST;
import static io.rdmacomm.soft.mapped.ReceiveRing.LARGER;
import static io.rdmacomm.soft.mapped.ReceiveRing.MASK;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Where the receives of a [ReceiveRing] are, from one position on. A ring that has grown has several of these, in
/// a chain: receives that are posted stay where they are, and later ones go to the newest. Each has at least twice
/// the entries of the one before, so there are few of them whatever a peer writes.
final class ReceiveEntries {
    private final MemorySegment memory;
    private final long offset;
    private final int stride;
    private final long mask;
    private final long first;
    private final @Nullable ReceiveEntries smaller;

    /// @param offset where its header is
    /// @param stride bytes of an entry
    /// @param mask the number of entries minus one
    /// @param first the position of its first receive
    /// @param smaller those before
    ReceiveEntries(
            MemorySegment memory, long offset, int stride, long mask, long first, @Nullable ReceiveEntries smaller) {
        this.memory = memory;
        this.offset = offset;
        this.stride = stride;
        this.mask = mask;
        this.first = first;
        this.smaller = smaller;
    }

    /// Allocates `size` entries, which takers cannot find yet.
    ///
    /// @throws IOException if there is no room
    static ReceiveEntries create(ControlFile file, long size, int stride, long first, @Nullable ReceiveEntries smaller)
            throws IOException {
        long offset = file.allocate(bytes(size, stride));
        MemorySegment memory = file.memory();
        memory.set(JAVA_LONG, offset + MASK, size - 1);
        memory.set(JAVA_LONG, offset + FIRST, first);
        return new ReceiveEntries(memory, offset, stride, size - 1, first, smaller);
    }

    /// The size of a header and this many entries.
    static long bytes(long size, int stride) {
        return ENTRIES + size * stride;
    }

    /// Whether a peer may have entries of this kind there.
    static boolean isPossible(long offset, long mask, int stride) {
        return mask >= 0
                && mask < ReceiveRing.MOST_ENTRIES
                && (mask & (mask + 1)) == 0
                && ControlLayout.isInHeap(offset, bytes(mask + 1, stride));
    }

    long offset() {
        return offset;
    }

    long mask() {
        return mask;
    }

    /// Where the entry at `position` is, in these entries or smaller ones.
    long at(long position) {
        ReceiveEntries holder = this;
        for (ReceiveEntries each = smaller; each != null && position < holder.first; each = each.smaller) {
            holder = each;
        }
        return holder.offset + ENTRIES + (position & holder.mask) * stride;
    }

    /// Announces larger entries to those that take receives, before the first receive there is posted.
    void grow(ReceiveEntries larger) {
        SharedWords.release(memory, offset + LARGER, larger.offset);
    }

    /// The newest entries that a receive at `position`, which was posted, can be in. Stops before entries that no
    /// correct owner writes.
    ReceiveEntries newest(long position) {
        ReceiveEntries known = this;
        ReceiveEntries next = known.next(position);
        while (next != null) {
            known = next;
            next = known.next(position);
        }
        return known;
    }

    private @Nullable ReceiveEntries next(long position) {
        long next = SharedWords.acquire(memory, offset + LARGER);
        if (next == 0 || !ControlLayout.isInHeap(next, ENTRIES)) {
            return null;
        }
        long nextFirst = memory.get(JAVA_LONG, next + FIRST);
        if (position < nextFirst) {
            return null;
        }
        long nextMask = memory.get(JAVA_LONG, next + MASK);
        return nextMask > mask && isPossible(next, nextMask, stride)
                ? new ReceiveEntries(memory, next, stride, nextMask, nextFirst, this)
                : null;
    }

    /// Frees the memory of all of them.
    void free(ControlFile file) {
        for (ReceiveEntries each = this; each != null; each = each.smaller) {
            file.free(each.offset, bytes(each.mask + 1, stride));
        }
    }
}
