package io.rdmacomm.nio.rsocket;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Measures how long a connection has been idle, and counts unanswered probes. One thread serves all connections
/// that use it, and ends when there are none. Methods are called with the lock of the connection held.
final class IdleClock {
    private static final ScheduledThreadPoolExecutor THREAD = thread();
    private static final long IDLE_SECONDS = 60;

    private final Runnable check;
    private @Nullable KeepAlive settings;
    private @Nullable Future<?> next;
    private long heardAt;
    private int unanswered;

    /// @param check called when [#isSilent()] may have changed
    IdleClock(Runnable check) {
        this.check = check;
    }

    private static ScheduledThreadPoolExecutor thread() {
        ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().daemon().name("rsocket-keepalive").factory());
        executor.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
        executor.allowCoreThreadTimeOut(true);
        executor.setRemoveOnCancelPolicy(true);
        return executor;
    }

    /// Starts measuring, with new settings.
    void start(KeepAlive newSettings) {
        stop();
        settings = newSettings;
        heardAt = System.nanoTime();
        unanswered = 0;
        schedule(newSettings.idle().toNanos());
    }

    /// Stops measuring.
    void stop() {
        settings = null;
        cancel();
    }

    private void cancel() {
        Future<?> task = next;
        if (task != null) {
            task.cancel(false);
            next = null;
        }
    }

    private void schedule(long nanos) {
        // A check that was too late to be cancelled may be the one that runs now.
        cancel();
        next = THREAD.schedule(check, nanos, TimeUnit.NANOSECONDS);
    }

    /// The peer has sent something, or its device has acknowledged something.
    void heard() {
        if (settings != null) {
            heardAt = System.nanoTime();
            unanswered = 0;
        }
    }

    /// Whether the peer must now be probed, or given up. Schedules the next call of [#check].
    boolean isSilent() {
        KeepAlive current = settings;
        if (current == null) {
            return false;
        }
        long left = current.idle().toNanos() - (System.nanoTime() - heardAt);
        boolean silent = left <= 0;
        schedule(silent ? current.interval().toNanos() : left);
        return silent;
    }

    /// Counts a probe.
    ///
    /// @return whether the peer has left more probes unanswered than allowed
    boolean asked() {
        KeepAlive current = settings;
        return current != null && ++unanswered > current.probes();
    }
}
