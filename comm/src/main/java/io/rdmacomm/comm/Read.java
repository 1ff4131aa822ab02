package io.rdmacomm.comm;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// One of several READs that are started together, as [AsyncChannel#read(List)] and its other forms do. To read one
/// range into several places, make a READ of each part. Immutable, unless the slice is a [MovableSlice].
///
/// @param into where to put it
/// @param from what to read
/// @param offset where in `from` to begin, in bytes
public record Read(BufferSlice into, RemoteBuffer from, long offset) {
    private static final Comparator<Read> BY_ADDRESS =
            Comparator.comparingLong(read -> read.into().address());

    /// The same READ, which no [MovableSlice] moves.
    Read fixed() {
        return into instanceof MovableSlice moving ? new Read(moving.slice(0, moving.length()), from, offset) : this;
    }

    /// Checks that no two READs have the same target. READs of one list are executed in any order. Allocates nothing if
    /// the targets ascend.
    ///
    /// @throws IllegalArgumentException if the targets of two READs overlap
    static void checkTargets(List<Read> reads) {
        if (!isAscending(reads)) {
            List<Read> sorted = new ArrayList<>(reads);
            sorted.sort(BY_ADDRESS);
            checkSorted(sorted);
        }
    }

    private static boolean isAscending(List<Read> reads) {
        for (int i = 1; i < reads.size(); i++) {
            if (reads.get(i - 1).end() > reads.get(i).into().address()) {
                return false;
            }
        }
        return true;
    }

    private static void checkSorted(List<Read> sorted) {
        for (int i = 1; i < sorted.size(); i++) {
            Read before = sorted.get(i - 1);
            Read after = sorted.get(i);
            if (before.end() > after.into().address()) {
                throw new IllegalArgumentException("two reads of a list have the same target: " + before.into()
                        + " and " + after.into() + " overlap; their order is undefined");
            }
        }
    }

    private long end() {
        return into.address() + into.length();
    }
}
