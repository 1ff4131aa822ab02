package io.rdmacomm.verbs;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// Counts the slots of a send queue.
///
/// A slot is free only after the completion of its request, or of a later one, was polled (ibv_post_send(3)).
/// For each signaled request, this records how many requests were posted up to it; its completion frees all
/// of those slots. One thread at a time posts and one retires; they may be different threads.
final class SendDepth {
    private static final VarHandle FREED;
    private static final VarHandle SIGNALS_RETIRED;

    static {
        try {
            FREED = MethodHandles.lookup().findVarHandle(SendDepth.class, "freed", long.class);
            SIGNALS_RETIRED = MethodHandles.lookup().findVarHandle(SendDepth.class, "signalsRetired", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int depth;
    private final int mask;
    private final long[] freedBySignal;
    private long posted;
    private long signalsPosted;

    @SuppressWarnings("UnusedVariable") // read and written through FREED
    private volatile long freed;

    @SuppressWarnings("UnusedVariable") // read and written through SIGNALS_RETIRED
    private volatile long signalsRetired;

    SendDepth(int depth) {
        this.depth = depth;
        // At least two: an entry must outlive the next one, which may be undone.
        int size = Math.max(2, Integer.highestOneBit(Math.max(1, depth) * 2 - 1));
        this.mask = size - 1;
        this.freedBySignal = new long[size];
    }

    /// The number of further requests that fit.
    int room() {
        return depth - (int) (posted - (long) FREED.getAcquire(this));
    }

    /// Takes the slot of one request.
    void take(boolean signaled) {
        posted++;
        if (signaled) {
            freedBySignal[(int) signalsPosted & mask] = posted;
            signalsPosted++;
        }
    }

    /// Frees the slots of the last requests, because they were not posted.
    void untake(int requests, int signals) {
        posted -= requests;
        signalsPosted -= signals;
    }

    /// Frees the slots of the last request, which was taken as signaled and has ended without a completion, and
    /// of those since the signaled one before.
    void endedAtOnce() {
        signalsPosted--;
        posted = signalsPosted == 0 ? 0 : freedBySignal[(int) (signalsPosted - 1) & mask];
    }

    /// Frees the slots of a completed signaled request and of those before it. Called by one thread at a time,
    /// the poller. Release stores suffice, because no thread waits for them.
    void retire() {
        long retired = (long) SIGNALS_RETIRED.getAcquire(this);
        if (retired == signalsPosted) {
            return; // it dates from before a reset of the queue pair
        }
        FREED.setRelease(this, freedBySignal[(int) retired & mask]);
        SIGNALS_RETIRED.setRelease(this, retired + 1);
    }

    /// Frees all slots after a reset of the queue pair.
    void clear() {
        posted = 0;
        signalsPosted = 0;
        signalsRetired = 0;
        freed = 0;
    }
}
