package io.rdmacomm.verbs;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// Counts the slots of a receive queue. Every receive ends with a completion, and polling it frees one slot. One
/// thread at a time posts and one retires; they may be different threads. Compare [SendDepth].
///
/// For a queue pair on a shared receive queue, it only counts completed receives.
final class ReceiveDepth {
    private static final VarHandle RETIRED;

    static {
        try {
            RETIRED = MethodHandles.lookup().findVarHandle(ReceiveDepth.class, "retired", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int depth;
    private final boolean shared;
    private long posted;

    @SuppressWarnings("UnusedVariable") // read and written through RETIRED
    private volatile long retired;

    ReceiveDepth(int depth) {
        this.depth = depth;
        this.shared = false;
    }

    private ReceiveDepth() {
        depth = 0;
        shared = true;
        posted = Long.MAX_VALUE;
    }

    /// For receives of a shared receive queue, which are posted elsewhere.
    static ReceiveDepth ofShared() {
        return new ReceiveDepth();
    }

    /// The number of further receives that fit.
    int room() {
        return depth - (int) (posted - (long) RETIRED.getAcquire(this));
    }

    /// Takes the slots of posted receives.
    void take(int receives) {
        posted += receives;
    }

    /// Frees the slot of a completed receive.
    void retire() {
        long before = (long) RETIRED.getAcquire(this);
        if (before < posted) {
            // Otherwise the completion dates from before a reset of the queue pair.
            RETIRED.setRelease(this, before + 1);
        }
    }

    /// The number of receives that have completed.
    long retired() {
        return (long) RETIRED.getAcquire(this);
    }

    /// Frees all slots after a reset of the queue pair.
    void clear() {
        if (!shared) {
            posted = 0;
            retired = 0;
        }
    }
}
