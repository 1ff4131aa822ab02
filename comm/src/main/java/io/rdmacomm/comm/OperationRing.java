package io.rdmacomm.comm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The operations in flight of one channel, in the order in which they were started and end. One thread at
/// a time adds at the head, one at a time, perhaps another, takes from the tail; what the first wrote
/// reaches the second with the completion.
///
/// Two places beyond the window are kept for the library itself: a credit update, and a question whether what went
/// before has arrived.
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
    private final InFlightOperation[] operations;
    private volatile boolean creditInFlight;
    private volatile boolean questionInFlight;
    private long posted;
    private long completedSeen;
    private long completed;

    OperationRing(int window) {
        this.window = window;
        int slots = slots(window);
        this.mask = slots - 1;
        this.operations = new InFlightOperation[slots];
        Arrays.setAll(operations, slot -> new InFlightOperation());
    }

    /// How many slots a ring for `window` operations has: a power of two, with room for those of the library.
    static int slots(int window) {
        return Integer.highestOneBit(window + 1) * 2;
    }

    /// Whether `count` operations more may be started.
    boolean hasRoom(int count) {
        if (fits(count)) {
            return true;
        }
        completedSeen = (long) COMPLETED.getAcquire(this);
        return fits(count);
    }

    /// The library's own are looked for after the end of others: one that ends in between is then counted as a
    /// user's, and not the other way round.
    private boolean fits(int count) {
        return posted - completedSeen <= (long) window - count + own();
    }

    /// Operations in flight that are the library's own.
    int own() {
        return (creditInFlight ? 1 : 0) + (questionInFlight ? 1 : 0);
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
        InFlightOperation operation = operations[slot(posted++)];
        operation.kind = kind;
        operation.length = length;
        operation.handler = handler;
        operation.context = context;
        operation.startNanos = startNanos;
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

    boolean isQuestionInFlight() {
        return questionInFlight;
    }

    void questionInFlight(boolean value) {
        questionInFlight = value;
    }

    /// The oldest operation that has not ended.
    long oldest() {
        return completed;
    }

    /// The operation with this number, which is in flight.
    InFlightOperation get(long sequence) {
        return operations[slot(sequence)];
    }

    /// Frees the slot of the oldest operation, and so allows another to start.
    void advance() {
        COMPLETED.setRelease(this, completed + 1);
    }

    /// Whether all operations before number `sequence` have ended.
    boolean hasEnded(long sequence) {
        return (long) COMPLETED.getAcquire(this) >= sequence;
    }

    /// Operations in flight, those of the library included; a snapshot.
    int size() {
        return (int) Math.max(0, posted - (long) COMPLETED.getAcquire(this));
    }

    /// Whether nothing is in flight, for the thread that holds the send lock.
    boolean isEmpty() {
        return posted == (long) COMPLETED.getAcquire(this);
    }
}
