package io.rdmacomm.comm;

import java.util.Comparator;
import java.util.List;

/// One of several READs that are started together, as [AsyncChannel#read(List)] and its other forms do. Immutable,
/// unless a slice is a [MovableSlice].
///
/// @param into where to put it: the first slice gets the first bytes, and so on. At least one, at most
///        [RdmaChannel#maxReadTargets()]
/// @param from what to read
/// @param offset where in `from` to begin, in bytes
public record Read(List<BufferSlice> into, RemoteBuffer from, long offset) {
    /// A READ of one range into several places, as one request.
    ///
    /// @throws IllegalArgumentException if `into` is empty
    public Read {
        into = List.copyOf(into);
        if (into.isEmpty()) {
            throw new IllegalArgumentException("a read needs at least one slice to read into");
        }
    }

    /// A READ into one place.
    public Read(BufferSlice into, RemoteBuffer from, long offset) {
        this(List.of(into), from, offset);
    }

    /// The same READ, which no [MovableSlice] moves.
    Read fixed() {
        return into.stream().anyMatch(MovableSlice.class::isInstance)
                ? new Read(into.stream().map(Read::fixed).toList(), from, offset)
                : this;
    }

    private static BufferSlice fixed(BufferSlice slice) {
        return slice instanceof MovableSlice moving ? moving.slice(0, moving.length()) : slice;
    }

    /// Checks that no two targets overlap. READs of one list are executed in any order. Allocates nothing if the
    /// targets ascend.
    ///
    /// @throws IllegalArgumentException if two targets overlap
    static void checkTargets(List<Read> reads) {
        if (!isAscending(reads)) {
            checkSorted(reads.stream()
                    .flatMap(read -> read.into().stream())
                    .filter(slice -> slice.length() > 0)
                    .sorted(Comparator.comparingLong(BufferSlice::address))
                    .toList());
        }
    }

    private static boolean isAscending(List<Read> reads) {
        long end = Long.MIN_VALUE;
        for (int i = 0; i < reads.size(); i++) {
            List<BufferSlice> into = reads.get(i).into();
            for (int k = 0; k < into.size(); k++) {
                BufferSlice slice = into.get(k);
                if (end > slice.address()) {
                    return false;
                }
                end = end(slice);
            }
        }
        return true;
    }

    private static void checkSorted(List<BufferSlice> sorted) {
        for (int i = 1; i < sorted.size(); i++) {
            BufferSlice before = sorted.get(i - 1);
            BufferSlice after = sorted.get(i);
            if (end(before) > after.address()) {
                throw new IllegalArgumentException("two targets of a read or a list of reads overlap: " + before
                        + " and " + after + "; their order is undefined");
            }
        }
    }

    private static long end(BufferSlice slice) {
        return slice.address() + slice.length();
    }
}
