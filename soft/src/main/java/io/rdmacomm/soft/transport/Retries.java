package io.rdmacomm.soft.transport;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/// The retry timers of a context that are running, for its engine, and how often requests were retried.
public final class Retries {
    private final Set<RetryTimer> running = ConcurrentHashMap.newKeySet();
    private final AtomicLong notReady = new AtomicLong();
    private final AtomicLong missing = new AtomicLong();
    private final Runnable wakeup;

    /// No timer is running.
    ///
    /// @param wakeup has the engine call [#onTime] soon
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

    /// How often a request was put off because the peer had no receive.
    public long notReady() {
        return notReady.get();
    }

    /// How often a request was put off because the peer's queue pair was not there.
    public long missing() {
        return missing.get();
    }

    boolean isRunning(RetryTimer timer) {
        return running.contains(timer);
    }

    /// Lets those queue pairs try again whose time has come; the engine.
    ///
    /// @return nanoseconds until the next one's time
    public long onTime() {
        long soonest = Long.MAX_VALUE;
        if (running.isEmpty()) {
            // As nearly always: the iterator would be allocated each time.
            return soonest;
        }
        for (RetryTimer timer : running) {
            soonest = Math.min(soonest, timer.onTime());
        }
        return soonest;
    }
}
