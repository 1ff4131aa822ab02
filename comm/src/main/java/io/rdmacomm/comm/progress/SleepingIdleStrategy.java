package io.rdmacomm.comm.progress;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/// Spins for a while, then arms the completion queue, lets the caller poll once more, and sleeps until there
/// is an event.
final class SleepingIdleStrategy implements IdleStrategy {
    private final CompletionGroup group;
    private final long spinNanos;
    private final BooleanSupplier ended;
    private long idleSince;
    private boolean idle;
    private boolean armed;

    /// @param spinNanos how long it spins before it sleeps
    /// @param ended whether the wait of the thread is over; checked before it sleeps
    SleepingIdleStrategy(CompletionGroup group, long spinNanos, BooleanSupplier ended) {
        this.group = group;
        this.spinNanos = spinNanos;
        this.ended = ended;
    }

    @Override
    public void idle(int polled, long maxNanos) {
        if (polled > 0) {
            idle = false;
            armed = false;
        } else if (polled == CompletionGroup.TAKEN) {
            armed = false;
            LockSupport.parkNanos(group, Math.min(maxNanos, CompletionGroup.SHORT_SLEEP_NANOS));
        } else if (armed) {
            // After a timeout without an event, do not spin again.
            idle = !group.awaitEvent(ended, maxNanos);
            armed = false;
        } else if (isOverSpinning()) {
            group.arm();
            armed = true;
        } else {
            Thread.onSpinWait();
        }
    }

    private boolean isOverSpinning() {
        if (spinNanos == 0) {
            return true;
        }
        if (!idle) {
            idle = true;
            idleSince = System.nanoTime();
            return false;
        }
        return System.nanoTime() - idleSince >= spinNanos;
    }
}
