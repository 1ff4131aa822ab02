package io.rdmacomm.comm.data;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The operations in flight of one channel, in the order in which they start and end. One thread at a time adds at
/// the head; one at a time, perhaps another, removes from the tail. A completion makes the adder's writes visible
/// to the remover.
///
/// Two slots beyond the window are internal: one for a credit update, one for an arrival read.
final class OperationRing<H> {
    private static final VarHandle COMPLETED;

    static {
        try {
            COMPLETED = MethodHandles.lookup().findVarHandle(OperationRing.class, "completed", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /// An operation in flight. There is one for each slot, and it is reused.
    static final class Entry<H> {
        int kind;
        long length;

        @Nullable
        H handler;

        long context;
        /// The time at which it started; 0 if it is not timed.
        long startNanos;
    }

    private final int window;
    private final int mask;
    private final List<Entry<H>> entries;
    private volatile boolean creditUpdateInFlight;
    private volatile boolean arrivalReadInFlight;
    private long posted;
    private long completedSeen;
    private long completed;

    OperationRing(int window) {
        this.window = window;
        int slots = slots(window);
        this.mask = slots - 1;
        this.entries = new ArrayList<>(slots);
        for (int i = 0; i < slots; i++) {
            entries.add(new Entry<>());
        }
    }

    /// The number of slots of a ring for `window` operations: a power of two, at least the window and two.
    static int slots(int window) {
        return Integer.highestOneBit(window + 1) * 2;
    }

    /// Whether `count` more operations fit into the window.
    boolean hasRoom(int count) {
        if (fits(count)) {
            return true;
        }
        completedSeen = (long) COMPLETED.getAcquire(this);
        return fits(count);
    }

    /// Counts internal operations after the completed ones: one that completes in between counts as a user's, never
    /// the reverse.
    private boolean fits(int count) {
        return posted - completedSeen <= (long) window - count + own();
    }

    private int own() {
        return (creditUpdateInFlight ? 1 : 0) + (arrivalReadInFlight ? 1 : 0);
    }

    /// The number of the next operation.
    long next() {
        return posted;
    }

    int slot(long sequence) {
        return (int) sequence & mask;
    }

    /// Adds an operation. The caller posts it next.
    void add(int kind, long length, @Nullable H handler, long context, long startNanos) {
        Entry<H> entry = entries.get(slot(posted++));
        entry.kind = kind;
        entry.length = length;
        entry.handler = handler;
        entry.context = context;
        entry.startNanos = startNanos;
    }

    /// Removes the operations that were added last, because they were not posted.
    void undo(int count) {
        posted -= count;
    }

    boolean isCreditUpdateInFlight() {
        return creditUpdateInFlight;
    }

    void creditUpdateInFlight(boolean value) {
        creditUpdateInFlight = value;
    }

    boolean isArrivalReadInFlight() {
        return arrivalReadInFlight;
    }

    void arrivalReadInFlight(boolean value) {
        arrivalReadInFlight = value;
    }

    /// The number of the oldest operation that has not ended.
    long oldest() {
        return completed;
    }

    /// The operation with this number, which is in flight.
    Entry<H> get(long sequence) {
        return entries.get(slot(sequence));
    }

    /// Frees the slot of the oldest operation, so that another can start.
    void advance() {
        COMPLETED.setRelease(this, completed + 1);
    }

    /// Whether all operations before number `sequence` have ended.
    boolean hasEnded(long sequence) {
        return (long) COMPLETED.getAcquire(this) >= sequence;
    }

    /// The user's operations in flight; a snapshot.
    int inFlight() {
        return (int) Math.max(0, posted - (long) COMPLETED.getAcquire(this) - own());
    }

    /// Whether nothing is in flight; exact for a thread that holds the send lock.
    boolean isEmpty() {
        return posted == (long) COMPLETED.getAcquire(this);
    }
}
