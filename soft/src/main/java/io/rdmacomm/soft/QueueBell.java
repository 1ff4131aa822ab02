package io.rdmacomm.soft;

import io.rdmacomm.soft.linux.Futex;
import io.rdmacomm.soft.mapped.Bell;
import io.rdmacomm.soft.transport.Arrivals;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;

/// A [Bell] of this context: the threads that sleep at it, and the completion queues that are armed with it.
final class QueueBell {
    /// A completion queue as its bell and its channel see it.
    interface Ringing {
        /// The number that its events carry.
        long handle();

        /// The incoming data for its queue pairs.
        Arrivals arrivals();

        /// Announces its completion if it was armed and a producer has disarmed it; any thread. Does nothing if that
        /// was announced.
        void announceIfDisarmed();

        /// Disarms it as a producer does; while it cannot be closed.
        void disarm();
    }

    private static final Ringing[] NONE = {};
    /// The longest sleep in the kernel: the wake-ups of this context fail if a process truncates its files.
    private static final long LONGEST_NANOS = 60_000_000_000L;

    private final MemorySegment memory;
    private final Bell bell;
    private final Runnable onEnter;
    private final AtomicReferenceArray<Ringing[]> queues = new AtomicReferenceArray<>(Bell.QUEUES);
    private final AtomicInteger inside = new AtomicInteger();
    private volatile boolean entered;
    private volatile boolean fedByNetwork;

    /// @param memory the control file
    /// @param onEnter called when a thread is about to sleep
    QueueBell(MemorySegment memory, Bell bell, Runnable onEnter) {
        this.memory = memory;
        this.bell = bell;
        this.onEnter = onEnter;
        for (int i = 0; i < Bell.QUEUES; i++) {
            queues.set(i, NONE);
        }
    }

    /// The bell itself.
    Bell bell() {
        return bell;
    }

    /// Lets a completion queue ring.
    synchronized void add(Ringing queue) {
        remove(queue);
        int bit = bitOf(queue);
        Ringing[] old = queues.get(bit);
        Ringing[] more = Arrays.copyOf(old, old.length + 1);
        more[old.length] = queue;
        queues.set(bit, more);
        fedByNetwork |= queue.arrivals().areFromNetwork();
    }

    /// Forgets a completion queue. It may still ring.
    synchronized void remove(Ringing queue) {
        int bit = bitOf(queue);
        Ringing[] old = queues.get(bit);
        for (int i = 0; i < old.length; i++) {
            if (old[i].equals(queue)) {
                Ringing[] fewer = Arrays.copyOf(old, old.length - 1);
                System.arraycopy(old, i + 1, fewer, i, fewer.length - i);
                queues.set(bit, fewer);
                break;
            }
        }
        if (fedByNetwork) {
            fedByNetwork = isAnyFedByNetwork();
        }
    }

    private static int bitOf(Ringing queue) {
        return (int) queue.handle() & Bell.QUEUES - 1;
    }

    private boolean isAnyFedByNetwork() {
        for (int bit = 0; bit < Bell.QUEUES; bit++) {
            for (Ringing queue : queues.get(bit)) {
                if (queue.arrivals().areFromNetwork()) {
                    return true;
                }
            }
        }
        return false;
    }

    /// One of its queues gets data from the network.
    synchronized void networkFeeds() {
        fedByNetwork = true;
    }

    /// Whether the queues of this bell may get data from the network, so that a waiting thread should read it.
    boolean isFedByNetwork() {
        return fedByNetwork;
    }

    /// Whether a queue has rung since the last [#look].
    boolean isRung() {
        return bell.isRung();
    }

    /// Announces the events of the queues that have rung; without locks of channels and groups.
    void look() {
        for (long rung = bell.take(); rung != 0; rung &= rung - 1) {
            lookAt(Long.numberOfTrailingZeros(rung));
        }
    }

    /// Announces the events of all queues: it may be unknown that one has rung.
    ///
    /// @return whether threads sleep, or may
    boolean check() {
        if (!entered) {
            return false;
        }
        // First: a thread that enters now sets it again.
        entered = false;
        for (int bit = 0; bit < Bell.QUEUES; bit++) {
            lookAt(bit);
        }
        if (hasSleepers()) {
            entered = true;
        }
        return entered;
    }

    private void lookAt(int bit) {
        for (Ringing queue : queues.get(bit)) {
            queue.announceIfDisarmed();
        }
    }

    /// A thread is about to sleep.
    ///
    /// @param kind of [Bell]
    /// @return the word that it sleeps for
    int enter(int kind) {
        inside.incrementAndGet();
        boolean complete = false;
        try {
            int word = bell.enter(kind);
            entered = true;
            if (!fedByNetwork) {
                onEnter.run();
            }
            complete = true;
            return word;
        } finally {
            if (!complete) {
                inside.decrementAndGet();
            }
        }
    }

    /// A thread does not sleep any more.
    void leave() {
        int word = 0;
        try {
            // Read first: a thread that enters meanwhile changes it.
            word = bell.word();
        } finally {
            if (inside.decrementAndGet() == 0) {
                bell.nobodySleeps(word);
            }
        }
    }

    /// Whether threads sleep.
    boolean hasSleepers() {
        return inside.get() > 0;
    }

    /// Sleeps until the bell rings, or the time is over; after [#enter] with [Bell#IN_KERNEL]. May return early.
    ///
    /// @param word that [#enter] has returned
    void sleep(int word, long nanos) {
        Futex.await(memory, bell.offset(), word, Math.min(nanos, LONGEST_NANOS));
    }

    /// Wakes the threads that sleep in the kernel; any thread. Takes no lock. Does not trust the word: a peer may have
    /// changed it and not woken them.
    void wake() {
        bell.call();
        if (inside.get() > 0) {
            Futex.wake(memory, bell.offset());
        }
    }
}
