package io.rdmacomm.comm.progress;

import java.util.concurrent.locks.LockSupport;

/// Spins. It periodically yields the processor, which costs nothing when no other thread needs it.
///
/// A virtual thread soon parks briefly instead. If it yielded, its carrier would run it again first, and other
/// virtual threads would never run.
final class SpinningIdleStrategy implements IdleStrategy {
    private static final int SPINS_BEFORE_YIELD = 1 << 12;
    private static final int SPINS_BEFORE_PARK = 1 << 8;
    private static final long PARK_NANOS = 20_000;

    private int spins;

    @Override
    @SuppressWarnings("ThreadPriorityCheck") // a spinning thread lets others run
    public void idle(int polled, long maxNanos) {
        if (polled > 0) {
            spins = 0;
            return;
        }
        spins++;
        if (spins % SPINS_BEFORE_PARK == 0 && Thread.currentThread().isVirtual()) {
            LockSupport.parkNanos(this, PARK_NANOS);
        } else if (spins < SPINS_BEFORE_YIELD) {
            Thread.onSpinWait();
        } else {
            spins = 0;
            Thread.yield();
        }
    }
}
