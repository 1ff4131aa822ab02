package io.rdmacomm.comm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// The operations in flight of one channel, in the order in which they were started and end. One thread at
/// a time adds at the head, one at a time, perhaps another, takes from the tail; what the first wrote
/// reaches the second with the completion.
///
/// One place beyond the window is kept for a credit update.
final class OperationRing {
    private static final VarHandle COMPLETED;

    static {
        try {
            COMPLETED = MethodHandles.lookup().findVarHandle(OperationRing.class, "completed", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int window;
    private final int mask;
    private final @Nullable CompletionHandler[] handlers;
    private final long[] contexts;
    private final long[] lengths;
    private final long[] starts;
    private final byte[] kinds;
    private volatile boolean creditInFlight;
    private long posted;
    private long completedSeen;
    private long completed;

    OperationRing(int window) {
        this.window = window;
        int slots = slots(window);
        this.mask = slots - 1;
        this.handlers = new @Nullable CompletionHandler[slots];
        this.contexts = new long[slots];
        this.lengths = new long[slots];
        this.starts = new long[slots];
        this.kinds = new byte[slots];
    }

    /// How many slots a ring for `window` operations has: a power of two, with room for credit updates.
    static int slots(int window) {
        return Integer.highestOneBit(window + 1) * 2;
    }

    /// Whether `count` operations more may be started.
    boolean hasRoom(int count) {
        long limit = (long) window - count + (creditInFlight ? 1 : 0);
        if (posted - completedSeen <= limit) {
            return true;
        }
        completedSeen = (long) COMPLETED.getAcquire(this);
        return posted - completedSeen <= limit;
    }

    /// The number of the next operation.
    long next() {
        return posted;
    }

    int slot(long sequence) {
        return (int) sequence & mask;
    }

    /// Adds an operation; it is to be posted next.
    void add(int kind, long length, @Nullable CompletionHandler handler, long context, long startNanos) {
        int slot = slot(posted++);
        kinds[slot] = (byte) kind;
        lengths[slot] = length;
        handlers[slot] = handler;
        contexts[slot] = context;
        starts[slot] = startNanos;
    }

    /// Takes back the operation that was added last: it was not posted after all.
    void undo() {
        posted--;
    }

    boolean isCreditInFlight() {
        return creditInFlight;
    }

    void creditInFlight(boolean value) {
        creditInFlight = value;
    }

    /// The oldest operation that has not ended.
    long oldest() {
        return completed;
    }

    int kind(int slot) {
        return kinds[slot];
    }

    long length(int slot) {
        return lengths[slot];
    }

    long context(int slot) {
        return contexts[slot];
    }

    long start(int slot) {
        return starts[slot];
    }

    /// The handler in `slot`, which the ring then forgets.
    @Nullable
    CompletionHandler takeHandler(int slot) {
        CompletionHandler handler = handlers[slot];
        handlers[slot] = null;
        return handler;
    }

    /// Frees the slot of the oldest operation, and so allows another to start.
    void advance() {
        COMPLETED.setRelease(this, completed + 1);
    }

    /// Operations in flight, credit updates included; a snapshot.
    int size() {
        return (int) Math.max(0, posted - (long) COMPLETED.getAcquire(this));
    }

    /// Whether nothing is in flight, for the thread that holds the send lock.
    boolean isEmpty() {
        return posted == (long) COMPLETED.getAcquire(this);
    }
}
