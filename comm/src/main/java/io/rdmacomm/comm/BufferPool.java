package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Bounds;
import io.rdmacomm.comm.statistics.PoolStatistics;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaInterruptedException;
import io.rdmacomm.verbs.VerbException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Pieces of registered memory, of any size, for any number of threads. Each is taken, used, and released in
/// any order. Thread-safe.
///
/// ```java
/// BufferPool pool = session.pool("reads", PoolOptions.of(256 << 20));
/// Piece piece = pool.take(length, Duration.ofSeconds(1));
/// channel.async().read(piece.slice(), remote, 0).whenComplete((nothing, failure) -> {
///     use(piece.buffer(), failure);
///     piece.release();
/// });
/// ```
///
/// The pool registers memory when it needs it, some MiB at a time and up to a limit, and keeps what is released
/// for the next pieces. What nobody has used for a while is given back ([PoolOptions#idle()]), except memory that was
/// lent to peers ([Piece#releaseAfter]). A piece takes at
/// most a quarter more memory than its length, or 63 bytes more. Once there is free memory of the size, taking
/// and releasing allocate nothing and make no system call.
///
/// If the pool is at its limit, free memory of other sizes is used. Even so, memory between pieces that are
/// taken may be too short for a long one.
public final class BufferPool implements AutoCloseable {
    private static final int MAX_NAME = 128;
    private static final int SLABS_OF_CHUNK = 16;

    private final Session session;
    private final String name;
    private final PoolOptions options;
    private final SizeClass[] sizes;
    private final PoolMemory memory;
    // Held to register and to give back, never to take or release a piece at a place that the pool has.
    private final ReentrantLock growing = new ReentrantLock();
    private final PoolWaiters waiters = new PoolWaiters();
    private final AtomicLong refusals = new AtomicLong();
    private @Nullable CompletableFuture<@Nullable Void> alarm;
    private volatile boolean open = true;

    /// @param access the rights of its memory
    BufferPool(Session session, String name, PoolOptions options, Set<AccessFlag> access) {
        this.session = session;
        this.name = Bounds.text("pool name", name, MAX_NAME);
        this.options = options;
        this.memory = new PoolMemory(options, bytes -> session.device().chunk(name, bytes, access));
        this.sizes = new SizeClass[PieceSizes.index(options.limit()) + 1];
        long slabBytes = Math.min(options.chunkBytes(), options.limit()) / SLABS_OF_CHUNK;
        for (int i = 0; i < sizes.length; i++) {
            sizes[i] = new SizeClass(this, Math.min(PieceSizes.bytes(i), options.limit()), slabBytes);
        }
    }

    /// Its name, in messages.
    public String name() {
        return name;
    }

    /// Its options.
    public PoolOptions options() {
        return options;
    }

    /// Takes a piece. Does not wait for other pieces, but registers memory if it has to, which takes milliseconds.
    ///
    /// @param bytes its length, 1 to [PoolOptions#limit()]
    /// @return the piece; null if there is no room
    /// @throws IllegalArgumentException if `bytes` is out of its range
    /// @throws VerbException if it needs more memory than the session may have or the device can register; the
    ///         message says what to raise. Nothing has changed
    /// @throws ClosedException if the pool or its session is closed
    public @Nullable Piece take(long bytes) {
        Piece piece = attempt(bytes);
        if (piece == null) {
            refusals.incrementAndGet();
        }
        return piece;
    }

    /// Takes a piece, and waits if there is no room until others are released. Threads that wait are served in
    /// the order in which they came. Blocks, for the timeout and as long as registering takes. It does not poll: in
    /// thread mode CALLER, the only polling thread must not wait here for a piece that a handler releases.
    ///
    /// @param bytes its length, 1 to [PoolOptions#limit()]
    /// @param timeout how long to wait, 1 ms to 24 h
    /// @throws IllegalArgumentException if one of them is out of its range
    /// @throws DeadlineException if there was no room in time
    /// @throws IllegalStateException if it would have to wait in a handler of the session
    /// @throws RdmaInterruptedException if the thread was interrupted
    /// @throws VerbException if it needs more memory than it can get, without waiting; see [#take(long)]
    /// @throws ClosedException if the pool or its session is closed, also while it waits
    public Piece take(long bytes, Duration timeout) {
        Bounds.timeout("timeout", timeout);
        Piece piece = waiters.isWaiting() ? null : attempt(bytes);
        return piece == null ? await(bytes, timeout) : piece;
    }

    private Piece await(long bytes, Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        if (session.isInHandler()) {
            throw new IllegalStateException("waiting for a piece of " + this
                    + " in a handler may wait for itself; call take(bytes) there, or take it in another thread");
        }
        Piece piece;
        try {
            piece = waiters.await(() -> attempt(bytes), deadline);
        } catch (InterruptedException e) {
            throw Failures.interrupted("waiting for a piece of " + this, e);
        }
        if (piece == null) {
            refusals.incrementAndGet();
            throw late(bytes, timeout);
        }
        return piece;
    }

    private DeadlineException late(long bytes, Duration timeout) {
        PoolStatistics now = statistics();
        return new DeadlineException(
                "no " + bytes + " bytes of " + this + " were free for " + timeout.toMillis() + " ms; " + now.bytes()
                        + " bytes in " + now.pieces() + " pieces are taken: release them earlier, or raise the limit",
                null);
    }

    /// @return null if there is no room
    private @Nullable Piece attempt(long bytes) {
        if (bytes < 1 || bytes > options.limit()) {
            throw new IllegalArgumentException("a piece of " + bytes + " bytes; " + this + " has pieces of 1 to "
                    + options.limit() + " bytes, which is its limit");
        }
        SizeClass size = sizes[PieceSizes.index(bytes)];
        Piece piece = size.take(bytes);
        return piece == null ? grow(size, bytes) : piece;
    }

    private @Nullable Piece grow(SizeClass size, long bytes) {
        growing.lock();
        try {
            checkOpen();
            // Another thread may have grown it meanwhile.
            Piece piece = size.take(bytes);
            if (piece != null) {
                return piece;
            }
            // First, so that a slab is not lost if there is no memory for a timer.
            setAlarm();
            Slab slab = slab(size);
            return slab == null ? null : size.add(slab, bytes);
        } finally {
            growing.unlock();
        }
    }

    private @Nullable Slab slab(SizeClass size) {
        try {
            Slab slab = memory.carve(size);
            if (slab != null || options.limit() - takenPlaces() < size.bytes() || !giveBack(true)) {
                return slab;
            }
        } catch (VerbException e) {
            // What is free here may be what the session or the device lacks.
            if (!giveBack(true)) {
                throw e;
            }
        }
        return memory.carve(size);
    }

    /// The bytes of the places that are taken. Without so much room, giving back is in vain, and costs registering
    /// again.
    private long takenPlaces() {
        long bytes = 0;
        for (SizeClass size : sizes) {
            bytes += size.taken().pieces() * size.bytes();
        }
        return bytes;
    }

    private void checkOpen() {
        session.checkOpen();
        if (!open) {
            throw new ClosedException(this + " is closed; make another one with Session.pool", null);
        }
    }

    /// Gives free memory back.
    ///
    /// @param usedToo also what was used since the last time
    /// @return whether there was any
    private boolean giveBack(boolean usedToo) {
        List<Slab> free = new ArrayList<>();
        for (SizeClass size : sizes) {
            size.remove(free, usedToo);
        }
        free.forEach(memory::giveBack);
        return !free.isEmpty();
    }

    /// Has somebody look for idle memory after a while. It is not the thread that releases the last piece, because
    /// setting a timer allocates.
    private void setAlarm() {
        if (alarm != null && !alarm.isDone()) {
            return;
        }
        CompletableFuture<@Nullable Void> set = new CompletableFuture<@Nullable Void>()
                .completeOnTimeout(null, options.idle().toNanos(), TimeUnit.NANOSECONDS);
        var _ = set.thenRunAsync(
                this::giveBackIdle,
                task -> Thread.ofVirtual().name("rdmacomm-pool-" + name).start(task));
        alarm = set;
    }

    private void giveBackIdle() {
        growing.lock();
        try {
            if (open) {
                giveBack(false);
                if (memory.registered() > 0) {
                    setAlarm();
                }
            }
        } finally {
            growing.unlock();
        }
    }

    /// A piece has no user any more.
    ///
    /// @param length the length of the piece
    void give(Slab slab, int place, long length) {
        if (slab.size().give(slab, place, length)) {
            giveBackLate(slab);
        }
        if (waiters.isWaiting()) {
            waiters.signal();
        }
    }

    /// The pool is closed, and this slab was still used then.
    private void giveBackLate(Slab slab) {
        growing.lock();
        try {
            memory.giveBack(slab);
        } finally {
            growing.unlock();
        }
    }

    /// Its counters. Each is right by itself, but they may be of slightly different moments.
    public PoolStatistics statistics() {
        long pieces = 0;
        long bytes = 0;
        for (SizeClass size : sizes) {
            SizeClass.Taken taken = size.taken();
            pieces += taken.pieces();
            bytes += taken.bytes();
        }
        return new PoolStatistics(pieces, bytes, memory.registered(), refusals.get());
    }

    /// Whether neither it nor its session was closed.
    public boolean isOpen() {
        return open && session.isOpen();
    }

    /// Ends all waits, and gives all free memory back. Pieces that are taken stay valid: their memory is given
    /// back when they are released, at the latest with the session. Idempotent. Does not wait for them.
    @Override
    public void close() {
        growing.lock();
        try {
            open = false;
            if (alarm != null) {
                alarm.cancel(false);
            }
            List<Slab> free = new ArrayList<>();
            for (SizeClass size : sizes) {
                size.close(free);
            }
            free.forEach(memory::giveBack);
            memory.close();
        } finally {
            growing.unlock();
        }
        waiters.signal();
        session.forget(this);
    }

    @Override
    public String toString() {
        return "pool '" + name + "' of " + session;
    }
}
