package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Bounds;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/// A part of the memory of a [BufferPool], with a count of its users. It has the length that was asked for,
/// begins at a multiple of 64 bytes, and holds whatever its last user has left.
///
/// Whoever takes a piece uses it, and releases it once. If several threads or operations use it at the same
/// time, each one but the first calls [#retain()] before it begins, and each calls [#release()] when it has
/// ended. Release a piece only after the operations on it have ended, also those that were given up by a
/// deadline: the memory may be another piece at once.
///
/// The object is used again for the next piece at its place, so that nothing is allocated. A released piece
/// that is free throws [IllegalStateException] when it is used or released again; but once its place is taken
/// by another piece, that is not noticed. So forget the piece, its slice, its segment and its buffer when you
/// release it.
///
/// [#retain()] and [#release()] are thread-safe. None of the methods blocks, except that the last release after the
/// pool was closed deregisters memory.
public final class Piece {
    private static final VarHandle REFERENCES;

    static {
        try {
            REFERENCES = MethodHandles.lookup().findVarHandle(Piece.class, "references", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Slab slab;
    private final int place;
    private final RdmaBuffer memory;
    private final MovableSlice slice;
    private final ByteBuffer buffer;
    private MemorySegment segment;
    private long length;
    private volatile int references;

    /// @param place its number in the slab
    /// @param offset where it begins in `memory`
    /// @param bytes the length of the place
    Piece(Slab slab, int place, RdmaBuffer memory, long offset, long bytes) {
        this.slab = slab;
        this.place = place;
        this.memory = memory;
        this.slice = memory.slice(offset, bytes).movable();
        this.segment = slice.segment();
        this.buffer = segment.asSlice(0, Math.min(bytes, Integer.MAX_VALUE)).asByteBuffer();
    }

    /// It is taken. Only the pool calls this, and only for a free place.
    void begin(long bytes) {
        length = bytes;
        slice.at(0, bytes);
        buffer.clear().limit((int) Math.min(bytes, buffer.capacity())).order(ByteOrder.BIG_ENDIAN);
        references = 1;
    }

    /// The length that was asked for, in bytes.
    ///
    /// @throws IllegalStateException if it was released
    public long length() {
        check();
        return length;
    }

    /// All of it, for operations. Always the same object. [BufferSlice#slice] and [BufferSlice#movable()] make
    /// parts.
    ///
    /// @throws IllegalStateException if it was released
    public BufferSlice slice() {
        check();
        return slice;
    }

    /// Its memory. Allocates a new view if the last piece at this place had another length. The view is valid
    /// until the memory is given back, which may be long after the release.
    ///
    /// @throws IllegalStateException if it was released
    public MemorySegment segment() {
        check();
        // Threads that share the piece may do the same twice; segments are immutable.
        MemorySegment view = segment;
        if (view.byteSize() != length) {
            view = memory.segment().asSlice(slice.offset(), length);
            segment = view;
        }
        return view;
    }

    /// Its memory as a direct buffer. Always the same object: its position is 0 and its byte order big endian
    /// when the piece is taken. One thread at a time may use it; others use [ByteBuffer#duplicate()].
    ///
    /// @throws IllegalStateException if it was released
    /// @throws UnsupportedOperationException if it is longer than a buffer can be, 2^31 - 1 bytes
    public ByteBuffer buffer() {
        check();
        if (length > Integer.MAX_VALUE) {
            throw new UnsupportedOperationException(
                    this + " is longer than a ByteBuffer can be; use its segment, or several pieces");
        }
        return buffer;
    }

    /// This piece for a peer that READs or WRITEs it: its address, and the key of the memory around it. That key is
    /// valid for all pieces in the same chunk of the pool, and after the release, until the chunk is given back. So
    /// give it only to peers that may see all of the pool, and release the piece after their operations have ended,
    /// or with [#releaseAfter(Duration)]. Allocates.
    ///
    /// @throws IllegalStateException if it was released, or the pool was made without a right for peers
    public RemoteBuffer asRemote() {
        check();
        if (!memory.isForPeers()) {
            throw new IllegalStateException(
                    slab.size().pool() + " gives peers no rights; make it with Session.pool(name, options, access)");
        }
        return memory.asRemote(slice.offset(), length);
    }

    /// The number of its users; 0 if it was released.
    public int references() {
        return references;
    }

    /// Adds a user. Allocates nothing.
    ///
    /// @throws IllegalStateException if it was released, or has 2^31 - 1 users
    public void retain() {
        int users;
        do {
            users = references;
            if (users == Integer.MAX_VALUE) {
                throw new IllegalStateException(
                        this + " has " + users + " users; release it as often as you retain it");
            }
            check(users);
        } while (!REFERENCES.compareAndSet(this, users, users + 1));
    }

    /// Takes one user away. The last release gives the memory back to the pool. Allocates nothing.
    ///
    /// @throws IllegalStateException if it was released as often as it was taken and retained
    public void release() {
        int users;
        do {
            users = references;
            check(users);
        } while (!REFERENCES.compareAndSet(this, users, users - 1));
        if (users == 1) {
            slab.size().pool().give(slab, place, length);
        }
    }

    /// [#release()] after a time, in which peers may still READ it because they hold a [Lease]. The memory stays
    /// registered until the pool is closed: a READ of a peer that was stopped, and is late, fails no connection.
    /// Allocates a timer.
    ///
    /// @param grace from now on, at least [Lease#grace(Duration)] of the term, 1 ms to 24 h
    /// @throws IllegalArgumentException if it is out of its range
    /// @throws IllegalStateException if it was released
    public void releaseAfter(Duration grace) {
        Bounds.timeout("grace", grace);
        check();
        slab.chunk().keep();
        CompletableFuture.delayedExecutor(
                        grace.toNanos(),
                        TimeUnit.NANOSECONDS,
                        task -> Thread.ofVirtual().name("rdmacomm-lease").start(task))
                .execute(this::release);
    }

    private void check() {
        check(references);
    }

    private void check(int users) {
        if (users == 0) {
            throw new IllegalStateException("a piece of " + slab.size().pool()
                    + " was released already; retain it once for each further user, and forget it after its release");
        }
    }

    @Override
    public String toString() {
        return "piece of " + length + " bytes of " + slab.size().pool();
    }
}
