package io.rdmacomm.compare.peer;

import java.util.concurrent.TimeUnit;

/// The deadline of an end that polls: a minute more than the whole work takes. It reads the clock seldom, and then
/// lets other threads run.
final class PollDeadline {
    private static final int SPINS = 0x7ff;
    private static final long SPARE_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final long nanos;
    private int spins;
    private long deadline;

    PollDeadline(Task task) {
        this.nanos = task.warmUpNanos() + task.nanos() + SPARE_NANOS;
    }

    /// Begins a new wait.
    void begin() {
        spins = 0;
        deadline = 0;
    }

    /// Counts a poll that found nothing.
    ///
    /// @param problem the message of the exception
    /// @throws IllegalStateException if the wait has taken too long
    @SuppressWarnings("ThreadPriorityCheck") // only speeds up a machine that is too busy to measure anything
    void spend(String problem) {
        if ((++spins & SPINS) != 0) {
            return;
        }
        Thread.yield();
        long now = System.nanoTime();
        if (deadline == 0) {
            deadline = now + nanos;
        } else if (now - deadline > 0) {
            throw new IllegalStateException(problem);
        }
    }
}
