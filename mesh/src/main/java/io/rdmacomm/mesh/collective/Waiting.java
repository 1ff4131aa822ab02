package io.rdmacomm.mesh.collective;

import io.rdmacomm.comm.Session;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.verbs.RdmaInterruptedException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// How the thread in a collective waits for a peer: it checks its condition, calls [#pause], and checks it again.
/// It spins for 20 us, then lets other threads run for 180 us, and then sleeps until something arrives. Where no
/// library thread polls, it polls.
///
/// A wait ends with an exception when the deadline has passed, the thread is interrupted, a node has failed, or
/// the collectives have ended.
final class Waiting {
    private static final long SPIN_NANOS = 20_000;
    /// Longer than a wake-up takes. If a rank slept earlier, its peer would wait for the wake-up, fall asleep in
    /// turn, and so on at every step.
    private static final long YIELD_NANOS = 200_000;
    private static final int SPINS_PER_CHECK = 16;
    /// The longest sleep: another thread may take the completion, and its event, that would wake this one.
    private static final Duration LONGEST_SLEEP = Duration.ofMillis(5);
    /// After this long, this rank tells all others which collective it waits in, to find a mismatch.
    private static final long SUSPICIOUS_NANOS = 100_000_000;
    /// The awaited data may have arrived from a peer that has left, and may still be unread.
    private static final long GRACE_NANOS = 2_000_000_000;

    private final CollectiveGroup group;
    private final Session session;
    private final boolean polling;
    private final CallLog log;
    private final Runnable onSuspicion;
    private long deadline;
    private Duration timeout = Duration.ZERO;
    private long begun;
    private long idleSince;
    private long closedSince;
    private int spins;
    private boolean suspicious;
    private boolean armed;
    private volatile @Nullable Thread asleep;

    /// @param onSuspicion runs once in a call that waits for a long time
    Waiting(CollectiveGroup group, CallLog log, Runnable onSuspicion) {
        this.group = group;
        this.session = group.session();
        this.polling = session.options().threadMode() == ThreadMode.CALLER;
        this.log = log;
        this.onSuspicion = onSuspicion;
    }

    /// Begins a call.
    void begin(Duration limit) {
        timeout = limit;
        begun = System.nanoTime();
        deadline = begun + limit.toNanos();
        suspicious = false;
        progressed();
    }

    /// The wait has ended: the next one spins again.
    void progressed() {
        if (idleSince != 0) {
            idleSince = 0;
            armed = false;
            asleep = null;
        }
        closedSince = 0;
        spins = 0;
    }

    /// Lets time pass between two checks of a condition.
    ///
    /// @param peer the peer that this rank waits for
    void pause(RankConnection peer) {
        CollectiveFault fault = log.fault();
        if (fault != null) {
            throw fault.failure();
        }
        if (polling && session.poll() > 0) {
            idleSince = 0;
            armed = false;
        }
        if (++spins % SPINS_PER_CHECK != 0 && !armed) {
            Thread.onSpinWait();
            return;
        }
        check(peer);
        long now = System.nanoTime();
        if (idleSince == 0) {
            idleSince = now | 1;
        } else if (now - idleSince > YIELD_NANOS) {
            sleep();
        } else if (now - idleSince > SPIN_NANOS) {
            letOthersRun();
        }
    }

    private void check(RankConnection peer) {
        group.checkOpen();
        long now = System.nanoTime();
        if (peer.isOpen()) {
            closedSince = 0;
        } else if (closedSince == 0) {
            closedSince = now | 1;
        } else if (now - closedSince > GRACE_NANOS) {
            throw group.gone(peer.rank());
        }
        if (now - deadline >= 0) {
            CollectiveFault late = new CollectiveFault(
                    CollectiveFault.DEADLINE,
                    "collective " + log.sequence() + ", " + log.call() + ", has not ended within " + timeout.toMillis()
                            + " ms: rank " + group.rank() + " waits for rank " + peer.rank());
            log.fail(late);
            throw late.failure();
        }
        if (!suspicious && now - begun > SUSPICIOUS_NANOS) {
            suspicious = true;
            onSuspicion.run();
        }
    }

    /// The first call only sets the flag that this thread is about to sleep, so that the caller checks its
    /// condition once more.
    private void sleep() {
        if (Thread.currentThread().isInterrupted()) {
            throw new RdmaInterruptedException("interrupted in collective " + log.call(), new InterruptedException());
        }
        if (!armed) {
            armed = true;
            asleep = Thread.currentThread();
        } else if (!polling) {
            LockSupport.parkNanos(this, LONGEST_SLEEP.toNanos());
        } else if (session.awaitCompletions(LONGEST_SLEEP) == 0) {
            letOthersRun();
        }
    }

    /// Yields, because the peer may be a process that waits for this processor.
    @SuppressWarnings("ThreadPriorityCheck") // no progress depends on it
    private static void letOthersRun() {
        Thread.yield();
    }

    /// Wakes the thread, because something has arrived. On the thread that polls.
    void wake() {
        Thread sleeper = asleep;
        if (sleeper != null && !polling) {
            LockSupport.unpark(sleeper);
        }
    }
}
