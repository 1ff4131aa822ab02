package io.rdmacomm.tests.soak;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// Measures how late a thread of this process is when it wants to run, because the machine is busy or the process
/// is stopped.
final class Pulse {
    private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final int KEPT = 4096;

    private final long[] times = new long[KEPT];
    private final long[] delays = new long[KEPT];
    private int next;

    Pulse() {
        Thread.ofPlatform().daemon().name("pulse").start(this::run);
    }

    private void run() {
        while (true) {
            long start = System.nanoTime();
            LockSupport.parkNanos(PERIOD_NANOS);
            long now = System.nanoTime();
            synchronized (this) {
                times[next % KEPT] = now;
                delays[next++ % KEPT] = now - start - PERIOD_NANOS;
            }
        }
    }

    /// The longest delay that ended after `since`, of the last minute.
    synchronized long longest(long since) {
        long most = 0;
        for (int i = 0; i < Math.min(next, KEPT); i++) {
            most = times[i] - since > 0 ? Math.max(most, delays[i]) : most;
        }
        return most;
    }
}
