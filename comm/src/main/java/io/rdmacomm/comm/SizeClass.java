package io.rdmacomm.comm;

import io.rdmacomm.verbs.service.OperationLock;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The places of one size in a pool. Thread-safe: a lock that is held for some instructions guards all of it,
/// the slabs and their pieces included.
final class SizeClass {
    private static final int MOST_PLACES = 256;

    private final BufferPool pool;
    private final long bytes;
    private final int placesOfSlab;
    private final OperationLock lock = new OperationLock();
    // The slabs with free places, up to the count. One that gets its first free place comes on top.
    private Slab[] available = {};
    private int count;
    // With those that are full. Changes only while the pool grows or gives back, one thread at a time.
    private int slabs;
    private boolean open = true;
    private long taken;
    private long takenBytes;

    /// @param bytes the length of a place
    /// @param slabBytes the length that a slab should have
    SizeClass(BufferPool pool, long bytes, long slabBytes) {
        this.pool = pool;
        this.bytes = bytes;
        this.placesOfSlab = Math.clamp(slabBytes / bytes, 1, MOST_PLACES);
    }

    BufferPool pool() {
        return pool;
    }

    /// The length of a place.
    long bytes() {
        return bytes;
    }

    /// The number of places that a slab has, if there is room for them.
    int placesOfSlab() {
        return placesOfSlab;
    }

    /// Takes a free place. Allocates nothing.
    ///
    /// @return null if there is none
    @Nullable
    Piece take(long length) {
        lock.lock();
        try {
            return count == 0 ? null : takeFromTop(length);
        } finally {
            lock.unlock();
        }
    }

    private Piece takeFromTop(long length) {
        Slab slab = available[count - 1];
        Piece piece = slab.take();
        if (slab.isFull()) {
            count--;
        }
        taken++;
        takenBytes += length;
        piece.begin(length);
        return piece;
    }

    /// Adds a slab and takes one of its places, before another thread can. The class is open.
    Piece add(Slab slab, long length) {
        lock.lock();
        try {
            slabs++;
            if (available.length < slabs) {
                available = Arrays.copyOf(available, 2 * slabs);
            }
            available[count++] = slab;
            return takeFromTop(length);
        } finally {
            lock.unlock();
        }
    }

    /// Gives a place back. Allocates nothing.
    ///
    /// @param length the length of its piece
    /// @return whether the class is closed and the slab is free now, so that the caller has to give it back
    boolean give(Slab slab, int place, long length) {
        lock.lock();
        try {
            if (open && slab.isFull()) {
                available[count++] = slab;
            }
            slab.give(place);
            taken--;
            takenBytes -= length;
            return !open && slab.isFree();
        } finally {
            lock.unlock();
        }
    }

    /// Removes the slabs that are free.
    ///
    /// @param found receives them
    /// @param usedToo also those that were used since the last look
    void remove(List<Slab> found, boolean usedToo) {
        if (slabs == 0) {
            return;
        }
        lock.lock();
        try {
            Slab[] kept = new Slab[available.length];
            int keptCount = 0;
            for (int i = 0; i < count; i++) {
                Slab slab = available[i];
                boolean used = slab.wasUsed();
                if (slab.isFree() && (usedToo || !used)) {
                    found.add(slab);
                } else {
                    kept[keptCount++] = slab;
                }
            }
            slabs -= count - keptCount;
            available = kept;
            count = keptCount;
        } finally {
            lock.unlock();
        }
    }

    /// Offers no place any more.
    ///
    /// @param found receives the slabs that are free; the others are given back one by one
    void close(List<Slab> found) {
        lock.lock();
        try {
            open = false;
            for (int i = 0; i < count; i++) {
                if (available[i].isFree()) {
                    found.add(available[i]);
                }
            }
            available = new Slab[0];
            count = 0;
        } finally {
            lock.unlock();
        }
    }

    /// The number of pieces that are taken, and their lengths together.
    Taken taken() {
        lock.lock();
        try {
            return new Taken(taken, takenBytes);
        } finally {
            lock.unlock();
        }
    }

    record Taken(long pieces, long bytes) {}
}
