package io.rdmacomm.verbs.service;

import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// A thread that serves others in turns. They depend on it, so a failing turn does not end it: the thread reports
/// the failure, pauses briefly, and takes the next turn. It ends when a turn returns that there are no more, and
/// then notifies its dependents.
///
/// It is a platform thread. A virtual one waits while handlers of the program occupy all carrier threads, and
/// may never wake up if memory was short when it went to sleep.
public final class ServiceThread {
    private static final long PAUSE_NANOS = 1_000_000;
    private static final long LONGEST_PAUSE_NANOS = 10_000_000;
    private static final long COMPLAINT_NANOS = 1_000_000_000;
    private static final int FAREWELLS = 1_000;

    /// The work that the thread repeats.
    @FunctionalInterface
    public interface Turn {
        /// Waits for work, and does it.
        ///
        /// @return whether there is another turn
        /// @throws Exception reported, unless it is an interrupt; then there is another turn
        boolean serve() throws Exception;
    }

    private final SafeLogger logger;
    private final Turn turn;
    private final Runnable onEnd;
    private final Thread thread;
    /// The number of turns in a row that have failed.
    private int failures;
    private long nextComplaint = System.nanoTime();
    private long unlogged;

    /// Creates the thread without starting it.
    ///
    /// @param name the name of the thread
    /// @param logger for failures of turns, at most one each second
    public ServiceThread(String name, SafeLogger logger, Turn turn) {
        this(name, logger, turn, () -> {});
    }

    /// Creates the thread without starting it.
    ///
    /// @param name the name of the thread
    /// @param logger for failures of turns, at most one each second
    /// @param onEnd runs after the last turn; if it throws, it runs again, because dependents must be
    ///        notified of the end
    public ServiceThread(String name, SafeLogger logger, Turn turn, Runnable onEnd) {
        this.logger = logger;
        this.turn = turn;
        this.onEnd = onEnd;
        this.thread = Thread.ofPlatform().daemon().name(name).unstarted(this::run);
    }

    /// Starts the thread; call it once.
    ///
    /// @throws OutOfMemoryError if the system cannot create another thread
    public ServiceThread start() {
        thread.start();
        return this;
    }

    private void run() {
        try {
            while (serveOrContinue()) {
                failures = 0;
            }
        } finally {
            end();
        }
    }

    /// Takes turns until one succeeds.
    private boolean serveOrContinue() {
        while (true) {
            // With a pending interrupt, selectors do not wait, and channels are closed. Only the turn ends
            // the thread.
            var _ = Thread.interrupted();
            try {
                return turn.serve();
            } catch (Exception | Error e) {
                // After an interrupt the next turn checks whether there is more to do.
                if (!isInterrupt(e)) {
                    survive(e);
                }
            }
        }
    }

    /// Interrupted calls of rdmacomm throw an exception with the interrupt as its cause.
    private static boolean isInterrupt(Throwable failure) {
        Throwable cause = failure;
        while (cause != null && !(cause instanceof InterruptedException)) {
            cause = cause.getCause();
        }
        return cause != null;
    }

    private void survive(Throwable failure) {
        report(failure);
        failures = Math.min(failures + 1, (int) (LONGEST_PAUSE_NANOS / PAUSE_NANOS));
        LockSupport.parkNanos(this, failures * PAUSE_NANOS);
    }

    /// Reports a failure that affects only one client: the turn continues. Never throws. On this thread.
    public void report(Throwable failure) {
        try {
            log(failure);
        } catch (RuntimeException | Error again) {
            // There is no memory or stack for the report. The thread continues.
            unlogged++;
        }
    }

    private void log(Throwable failure) {
        long now = System.nanoTime();
        if (now - nextComplaint < 0) {
            // A failure is likely to recur in each turn.
            unlogged++;
            return;
        }
        nextComplaint = now + COMPLAINT_NANOS;
        String more = unlogged == 0 ? "" : "; " + unlogged + " failures before this one were not logged";
        logger.log(Level.WARNING, thread.getName() + " continues after a failure: " + failure + more, failure);
        unlogged = 0;
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

    /// Interrupts a wait of the thread.
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
