package io.rdmacomm.verbs;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/// The lock of a queue: held for the time of one post or poll, so waiting for it is spinning first, then short
/// sleeps.
///
/// Taking it is one atomic instruction and giving it back a plain store, where
/// [java.util.concurrent.locks.ReentrantLock] needs an atomic instruction each; the price is that a waiter is not
/// woken but looks again. Reentrant; allocates nothing, also when it is contended. See decision 6.
///
/// Who holds it is a number: the garbage collector wants to know of each reference that is stored, and of none
/// else.
public final class OperationLock {
    private static final VarHandle OWNER;
    private static final long FREE = 0;
    private static final int SPINS = 2_000;
    private static final long NAP_NANOS = 20_000;

    static {
        try {
            OWNER = MethodHandles.lookup().findVarHandle(OperationLock.class, "owner", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("UnusedVariable") // read and written through OWNER
    private volatile long owner;

    private int holds;

    /// A free lock.
    public OperationLock() {}

    /// Takes the lock; waits for it. Not interruptible: it is never held for long.
    public void lock() {
        long me = Thread.currentThread().threadId();
        if ((long) OWNER.getOpaque(this) == me) {
            holds++;
        } else if (!OWNER.compareAndSet(this, FREE, me)) {
            await(me);
        }
    }

    /// Takes the lock if it is free or held by this thread already.
    public boolean tryLock() {
        long me = Thread.currentThread().threadId();
        if ((long) OWNER.getOpaque(this) == me) {
            holds++;
            return true;
        }
        return OWNER.compareAndSet(this, FREE, me);
    }

    /// Gives the lock back; only the thread that holds it.
    public void unlock() {
        if (holds > 0) {
            holds--;
        } else {
            OWNER.setRelease(this, FREE);
        }
    }

    private void await(long me) {
        int spins = 0;
        while ((long) OWNER.getOpaque(this) != FREE || !OWNER.compareAndSet(this, FREE, me)) {
            if (spins++ < SPINS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(NAP_NANOS);
            }
        }
    }
}
