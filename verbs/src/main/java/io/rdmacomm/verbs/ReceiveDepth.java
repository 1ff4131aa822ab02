package io.rdmacomm.verbs;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// How full a receive queue is: each receive completes, so each completion that is polled frees one slot. One
/// thread at a time posts, one at a time retires, and they may be two; compare [SendDepth].
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
    private long posted;

    @SuppressWarnings("UnusedVariable") // read and written through RETIRED
    private volatile long retired;

    ReceiveDepth(int depth) {
        this.depth = depth;
    }

    /// How many more receives fit.
    int room() {
        return depth - (int) (posted - (long) RETIRED.getAcquire(this));
    }

    /// Takes the slots of receives that were posted.
    void take(int receives) {
        posted += receives;
    }

    /// A receive has completed: frees its slot.
    void retire() {
        long before = (long) RETIRED.getAcquire(this);
        if (before < posted) {
            // Not so for a completion that was left in its queue when the queue pair was reset.
            RETIRED.setRelease(this, before + 1);
        }
    }

    /// Forgets everything, for a queue pair that was reset.
    void clear() {
        posted = 0;
        retired = 0;
    }
}
