package io.rdmacomm.verbs.service;

import io.rdmacomm.verbs.RdmaInterruptedException;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// A thread that serves others, turn by turn. They depend on it, so no failure of a turn ends it: the
/// thread reports the failure, pauses for a moment, and takes the next turn. It ends when a turn says
/// that there are no more. Then it tells those who depend on it.
///
/// It is a platform thread. A virtual one waits while handlers of the program keep all carrier threads, and may never
/// wake up again if there was no memory when it went to sleep.
public final class ServiceThread {
    private static final long PAUSE_NANOS = 1_000_000;
    private static final long LONGEST_PAUSE_NANOS = 10_000_000;
    private static final long COMPLAINT_NANOS = 1_000_000_000;
    private static final int FAREWELLS = 1_000;

    /// The work that the thread repeats.
    @FunctionalInterface
    public interface Turn {
        /// Waits for something to do, and does it.
        ///
        /// @return whether there is another turn
        /// @throws Exception is reported, unless it is an interrupt; then there is another turn
        boolean serve() throws Exception;
    }

    private final SafeLogger logger;
    private final Turn turn;
    private final Runnable onEnd;
    private final Thread thread;
    /// How many turns in a row have failed.
    private int failures;
    private long nextComplaint = System.nanoTime();
    private long untold;

    /// A thread that does not run yet.
    ///
    /// @param name of the thread
    /// @param logger for failures of turns, at most one each second
    public ServiceThread(String name, SafeLogger logger, Turn turn) {
        this(name, logger, turn, () -> {});
    }

    /// A thread that does not run yet.
    ///
    /// @param name of the thread
    /// @param logger for failures of turns, at most one each second
    /// @param onEnd runs after the last turn. If it throws, it runs again: who depends on the thread must learn of
    ///        its end
    public ServiceThread(String name, SafeLogger logger, Turn turn, Runnable onEnd) {
        this.logger = logger;
        this.turn = turn;
        this.onEnd = onEnd;
        this.thread = Thread.ofPlatform().daemon().name(name).unstarted(this::run);
    }

    /// Begins; to be called once.
    ///
    /// @throws OutOfMemoryError if the system has no thread left
    public ServiceThread start() {
        thread.start();
        return this;
    }

    private void run() {
        try {
            while (serveOrGoOn()) {
                failures = 0;
            }
        } finally {
            end();
        }
    }

    /// Takes turns until one succeeds.
    private boolean serveOrGoOn() {
        while (true) {
            // With an interrupt pending, selectors do not wait, and channels are closed. Only the turn ends the thread.
            var _ = Thread.interrupted();
            try {
                return turn.serve();
            } catch (InterruptedException | RdmaInterruptedException e) {
                // The turn that follows looks whether there is more to do.
            } catch (Exception | Error e) {
                survive(e);
            }
        }
    }

    private void survive(Throwable failure) {
        report(failure);
        failures = Math.min(failures + 1, (int) (LONGEST_PAUSE_NANOS / PAUSE_NANOS));
        LockSupport.parkNanos(this, failures * PAUSE_NANOS);
    }

    /// Reports a failure that costs only one of those who are served: the turn continues. Never throws. On this
    /// thread.
    public void report(Throwable failure) {
        try {
            complain(failure);
        } catch (RuntimeException | Error again) {
            // There is no memory or no stack to say so. The thread goes on.
            untold++;
        }
    }

    private void complain(Throwable failure) {
        long now = System.nanoTime();
        if (now - nextComplaint < 0) {
            // A failure is likely to happen again in each turn.
            untold++;
            return;
        }
        nextComplaint = now + COMPLAINT_NANOS;
        String more = untold == 0 ? "" : "; " + untold + " failures before this one were not logged";
        logger.log(Level.WARNING, thread.getName() + " goes on after a failure: " + failure + more, failure);
        untold = 0;
    }

    private void end() {
        for (int i = 0; i < FAREWELLS; i++) {
            try {
                onEnd.run();
                return;
            } catch (RuntimeException | Error e) {
                survive(e);
            }
        }
    }

    /// The name of the thread.
    public String name() {
        return thread.getName();
    }

    /// Whether the calling thread is this one.
    public boolean isCurrent() {
        return Thread.currentThread().equals(thread);
    }

    /// Ends a pause of the thread, or its wait for a permit of [LockSupport].
    public void unpark() {
        LockSupport.unpark(thread);
    }

    /// Interrupts what the thread waits for.
    public void interrupt() {
        thread.interrupt();
    }

    /// Waits until the thread has ended, unless it is the caller. Interrupts do not end the wait; they are kept for the
    /// caller.
    public void join() {
        var _ = join(Long.MAX_VALUE);
    }

    /// Waits until the thread has ended, unless it is the caller. Interrupts do not end the wait; they are kept for the
    /// caller.
    ///
    /// @param millis how long to wait at most
    /// @return whether it has ended
    public boolean join(long millis) {
        if (isCurrent()) {
            return false;
        }
        long start = System.nanoTime();
        long left = millis;
        boolean interrupted = false;
        while (thread.isAlive() && left > 0) {
            try {
                thread.join(left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
            left = millis - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return !thread.isAlive();
    }
}
