package io.rdmacomm.soft.transport;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/// The running retry timers of a context, for its engine, and counts of retries.
public final class Retries {
    private final Set<RetryTimer> running = ConcurrentHashMap.newKeySet();
    private final AtomicLong notReady = new AtomicLong();
    private final AtomicLong missing = new AtomicLong();
    private final Runnable wakeup;

    /// No timer is running.
    ///
    /// @param wakeup makes the engine call [#onTime] soon
    public Retries(Runnable wakeup) {
        this.wakeup = wakeup;
    }

    void start(RetryTimer timer) {
        running.add(timer);
        wakeup.run();
    }

    void stop(RetryTimer timer) {
        running.remove(timer);
    }

    void countNotReady() {
        notReady.getAndIncrement();
    }

    void countMissing() {
        missing.getAndIncrement();
    }

    /// How often a request was delayed because the peer had no receive.
    public long notReady() {
        return notReady.get();
    }

    /// How often a request was delayed because the peer's queue pair was not there.
    public long missing() {
        return missing.get();
    }

    boolean isRunning(RetryTimer timer) {
        return running.contains(timer);
    }

    /// Runs the timers that are due; the engine.
    ///
    /// @return nanoseconds until the next timer is due
    public long onTime() {
        long soonest = Long.MAX_VALUE;
        if (running.isEmpty()) {
            // The usual case: an iterator would be allocated each time.
            return soonest;
        }
        for (RetryTimer timer : running) {
            soonest = Math.min(soonest, timer.onTime());
        }
        return soonest;
    }
}
