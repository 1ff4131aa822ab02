package io.rdmacomm.verbs.service;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/// A lock that is held for one post or poll, so a waiting thread spins first and then sleeps briefly.
///
/// Locking takes one atomic instruction and unlocking a plain store, where
/// [java.util.concurrent.locks.ReentrantLock] needs an atomic instruction for each. In return, a waiting thread is
/// not woken but checks again. Reentrant. Never allocates. See decision 6.
///
/// The holder is identified by its thread id, because storing a reference costs a barrier of the garbage
/// collector.
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

    /// Takes the lock, waiting until it is free. Not interruptible.
    public void lock() {
        long me = Thread.currentThread().threadId();
        if ((long) OWNER.getOpaque(this) == me) {
            holds++;
        } else if (!OWNER.compareAndSet(this, FREE, me)) {
            await(me);
        }
    }

    /// Takes the lock if it is free or this thread already holds it.
    public boolean tryLock() {
        long me = Thread.currentThread().threadId();
        if ((long) OWNER.getOpaque(this) == me) {
            holds++;
            return true;
        }
        return OWNER.compareAndSet(this, FREE, me);
    }

    /// Releases the lock. Only the thread that holds it may call this.
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
