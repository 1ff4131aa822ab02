package io.rdmacomm.soft.memory;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.rdmacomm.soft.mapped.ReceiveRing;
import io.rdmacomm.soft.mapped.SharedWords;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// Resolved pieces of memory that data goes from or to. Reused for each request; nothing is allocated.
///
/// A piece that only the peer itself can access has a key and an address, but no segment.
public final class ElementList {
    /// Most scatter/gather elements of a request.
    public static final int MAX_ELEMENTS = ReceiveRing.MOST_ELEMENTS;

    private static final PieceMover DIRECTLY = ElementList::movePiece;

    public final @Nullable MemorySegment[] segments;
    public final long[] offsets;
    public final long[] lengths;
    public final long[] addresses;
    public final int[] keys;
    public int count;
    public long total;
    /// Whether a piece has no segment.
    public boolean partlyUnreachable;
    /// Whether each access to a piece may fault: see [LocalRegion#mayFault()].
    public boolean mayFault;

    public ElementList(int capacity) {
        segments = new @Nullable MemorySegment[capacity];
        offsets = new long[capacity];
        lengths = new long[capacity];
        addresses = new long[capacity];
        keys = new int[capacity];
    }

    public void clear() {
        count = 0;
        total = 0;
        partlyUnreachable = false;
        mayFault = false;
    }

    /// Adds memory without a key: inline data.
    public void add(MemorySegment segment, long offset, long length) {
        add(segment, 0, offset, length);
    }

    /// Adds memory of a region of this context.
    public void add(LocalRegion region, long offset, long length) {
        add(region.segment(), region.key(), offset, length);
        mayFault |= region.mayFault();
    }

    /// Adds memory of the region with this local key.
    public void add(MemorySegment segment, int key, long offset, long length) {
        segments[count] = segment;
        keys[count] = key;
        offsets[count] = offset;
        lengths[count] = length;
        total += length;
        count++;
    }

    /// Splits piece `index` in two; the first one has `length` bytes.
    public void split(int index, long length) {
        int behind = count - index;
        System.arraycopy(segments, index, segments, index + 1, behind);
        System.arraycopy(offsets, index, offsets, index + 1, behind);
        System.arraycopy(lengths, index, lengths, index + 1, behind);
        System.arraycopy(addresses, index, addresses, index + 1, behind);
        System.arraycopy(keys, index, keys, index + 1, behind);
        lengths[index] = length;
        offsets[index + 1] += length;
        addresses[index + 1] += length;
        lengths[index + 1] -= length;
        count++;
    }

    public void addUnreachable(int key, long address, long length) {
        segments[count] = null;
        keys[count] = key;
        addresses[count] = address;
        lengths[count] = length;
        total += length;
        partlyUnreachable = true;
        count++;
    }

    /// Copies `bytes` bytes from `from` to `to`, both with segments only. The last bytes become visible last, so a
    /// reader that sees them sees everything.
    public static void copy(ElementList from, ElementList to, long bytes) {
        if (from.count == 1 && to.count == 1) {
            copyPiece(from.segments[0], from.offsets[0], to.segments[0], to.offsets[0], bytes);
        } else {
            forEachPiece(from, to, bytes, Long.MAX_VALUE, DIRECTLY);
        }
        from.throwFault();
        to.throwFault();
    }

    /// Throws the [InternalError] of a fault in an access to one of the pieces. Otherwise the error may come only
    /// after the request was reported as done.
    public void throwFault() {
        if (mayFault) {
            SharedWords.throwFault();
        }
    }

    /// Moves a range of memory that lies in one piece on both sides.
    public interface PieceMover {
        /// Moves `bytes` bytes, `sourceDone` into element `source` of `from`, `sinkDone` into element `sink` of
        /// `to`.
        ///
        /// @return false on failure
        boolean move(
                ElementList from, int source, long sourceDone, ElementList to, int sink, long sinkDone, long bytes);
    }

    /// Goes through both lists together, in ranges of at most `longest` bytes.
    ///
    /// @return false once a move fails
    public static boolean forEachPiece(ElementList from, ElementList to, long bytes, long longest, PieceMover mover) {
        int source = 0;
        int sink = 0;
        long sourceDone = 0;
        long sinkDone = 0;
        long left = bytes;
        while (left > 0) {
            long here = Math.min(from.lengths[source] - sourceDone, to.lengths[sink] - sinkDone);
            long piece = Math.min(Math.min(left, longest), here);
            if (!mover.move(from, source, sourceDone, to, sink, sinkDone, piece)) {
                return false;
            }
            left -= piece;
            sourceDone += piece;
            sinkDone += piece;
            if (sourceDone == from.lengths[source]) {
                source++;
                sourceDone = 0;
            }
            if (sinkDone == to.lengths[sink]) {
                sink++;
                sinkDone = 0;
            }
        }
        return true;
    }

    private static boolean movePiece(
            ElementList from, int source, long sourceDone, ElementList to, int sink, long sinkDone, long bytes) {
        copyPiece(
                from.segments[source],
                from.offsets[source] + sourceDone,
                to.segments[sink],
                to.offsets[sink] + sinkDone,
                bytes);
        return true;
    }

    public static void copyPiece(
            @Nullable MemorySegment from, long fromOffset, @Nullable MemorySegment to, long toOffset, long bytes) {
        if (from == null || to == null) {
            throw new IllegalStateException("cannot copy memory of another process directly");
        }
        if (bytes == Long.BYTES && ((toOffset | to.address()) & 7) == 0) {
            SharedWords.release(to, toOffset, from.get(JAVA_LONG_UNALIGNED, fromOffset));
        } else if (bytes > Long.BYTES) {
            long body = bytes - Long.BYTES;
            MemorySegment.copy(from, fromOffset, to, toOffset, body);
            VarHandle.releaseFence();
            to.set(JAVA_LONG_UNALIGNED, toOffset + body, from.get(JAVA_LONG_UNALIGNED, fromOffset + body));
        } else {
            for (long i = 0; i < bytes; i++) {
                VarHandle.releaseFence();
                to.set(JAVA_BYTE, toOffset + i, from.get(JAVA_BYTE, fromOffset + i));
            }
        }
    }
}
