package io.rdmacomm.nio.rsocket;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Measures for how long nothing has happened on a connection, and counts the questions that the peer has not
/// answered. One thread serves all connections that want it, and is gone without them. Methods are called with the
/// lock of the connection.
final class IdleClock {
    private static final ScheduledThreadPoolExecutor THREAD = thread();
    private static final long IDLE_SECONDS = 60;

    private final Runnable check;
    private @Nullable KeepAlive settings;
    private @Nullable Future<?> next;
    private long heardAt;
    private int unanswered;

    /// @param check is called when [#isSilent()] may have changed
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

    /// Begins to measure, with other settings than before.
    void start(KeepAlive newSettings) {
        stop();
        settings = newSettings;
        heardAt = System.nanoTime();
        unanswered = 0;
        schedule(newSettings.idle().toNanos());
    }

    /// Measures no longer.
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
        // The check that runs now may be one that could not be cancelled any more.
        cancel();
        next = THREAD.schedule(check, nanos, TimeUnit.NANOSECONDS);
    }

    /// Something was heard from the peer, or its device has confirmed something.
    void heard() {
        if (settings != null) {
            heardAt = System.nanoTime();
            unanswered = 0;
        }
    }

    /// Whether the peer must be asked now, or given up. Has [#check] called again when that is due.
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

    /// The peer was asked once more.
    ///
    /// @return whether it has not answered all earlier questions that it may leave unanswered
    boolean asked() {
        KeepAlive current = settings;
        return current != null && ++unanswered > current.probes();
    }
}
