package io.rdmacomm.soft.transport;

import io.rdmacomm.verbs.AckTimeout;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.RnrTimer;
import io.rdmacomm.verbs.WorkStatus;

/// Limits how long the oldest request of a queue pair waits for a peer that is not there or has no receive, and
/// schedules its retries (ibv_modify_qp(3): timeout, retry_cnt, rnr_retry). Under the queue pair's send lock,
/// unless stated otherwise.
public final class RetryTimer {
    private static final int WAITS = 0;
    private static final int UNLIMITED_RNR_RETRIES = 7;
    /// Up to four times the timeout (IBTA 9.7.6.1.3).
    private static final int MOST_DOUBLINGS = 2;

    private static final long FIRST_CHECK_NANOS = 200_000;
    private static final long LONGEST_CHECK_NANOS = 10_000_000;
    private static final long LEAST_SILENCE_NANOS = 5_000_000_000L;
    /// How soon to check again a queue pair that another thread is using.
    private static final long LOCKED_NANOS = 50_000;

    private final Retries retries;
    private final SendLock lock;
    private final Runnable retry;
    private long timeoutNanos;
    private long retryNanos;
    private int retryCount;
    private int rnrRetries;
    private int rnrTries;
    private int repetitions;
    private boolean missing;
    private long missingSince;
    private int missingTries;
    private long missingTriedAt;
    private long checkNanos;
    private volatile long due;

    /// A timer that is not running.
    ///
    /// @param lock of the queue pair
    /// @param retry called with the lock held, on the engine's thread
    public RetryTimer(Retries retries, SendLock lock, Runnable retry) {
        this.retries = retries;
        this.lock = lock;
        this.retry = retry;
    }

    /// Takes the timeout and the retry counts from the attributes of the queue pair.
    public void configure(QueuePairAttributes attributes) {
        timeoutNanos = attributes.timeout().nanos();
        retryCount = attributes.retryCount();
        retryNanos =
                attributes.timeout().equals(AckTimeout.INFINITE) ? Long.MAX_VALUE : timeoutNanos * (retryCount + 1);
        rnrRetries = attributes.rnrRetry();
        progressed();
    }

    /// Whether the queue pair waits for its peer without a limit.
    private boolean isEndless() {
        return retryNanos == Long.MAX_VALUE;
    }

    /// The peer's queue pair did not answer: schedules a retry. Time alone does not count, only retries: a process
    /// that was not running has not tried.
    ///
    /// @param reached whether the peer's host has answered, and is passing the call on to the peer
    /// @return 0, or the status that the oldest request fails with
    public int peerMissing(boolean reached) {
        long now = System.nanoTime();
        if (!missing) {
            missing = true;
            missingSince = now;
            missingTries = 0;
            missingTriedAt = now;
            checkNanos = FIRST_CHECK_NANOS;
        }
        if (now - missingTriedAt >= timeoutNanos && !isEndless()) {
            missingTries++;
            missingTriedAt = now;
        }
        if (missingTries > retryCount && !reached) {
            return WorkStatus.RETRY_EXCEEDED.code();
        }
        retries.countMissing();
        start(now + Math.min(missingTriedAt + timeoutNanos - now, checkNanos));
        checkNanos = Math.min(checkNanos * 2, LONGEST_CHECK_NANOS);
        return WAITS;
    }

    /// The peer had no receive: schedules a retry.
    ///
    /// @param timer the code of the time that the peer asks for
    /// @return 0, or the status that the request fails with
    public int receiverNotReady(int timer) {
        missing = false;
        if (rnrRetries != UNLIMITED_RNR_RETRIES && rnrTries >= rnrRetries) {
            return WorkStatus.RECEIVER_NOT_READY_EXCEEDED.code();
        }
        rnrTries++;
        retries.countNotReady();
        start(System.nanoTime() + RnrTimer.nanos(timer));
        return WAITS;
    }

    /// Packets were lost or timed out, and are about to be retransmitted. Progress resets the count.
    ///
    /// @return 0, or the status that the oldest request fails with
    public int repeats() {
        if (repetitions >= retryCount && !isEndless()) {
            return WorkStatus.RETRY_EXCEEDED.code();
        }
        repetitions++;
        return WAITS;
    }

    /// Packets are retransmitted if no acknowledgement comes within this time. It doubles with each of the first
    /// retransmissions, up to the longest that IBTA 9.7.6.1.3 allows: the process of a software peer may get no
    /// processor for half a second. [Long#MAX_VALUE] means no limit.
    public long timeoutNanos() {
        return isEndless() ? Long.MAX_VALUE : timeoutNanos << Math.min(repetitions, MOST_DOUBLINGS);
    }

    /// The peer has not answered a request: schedules a check. The peer has as much time as the retries take, and
    /// at least 5 seconds, as over TCP: its process may only be slow.
    ///
    /// @param since when the request was sent, or the peer last answered
    /// @return 0, or the status that the oldest request fails with
    public int peerSilent(long since) {
        long left = Math.max(retryNanos, LEAST_SILENCE_NANOS) - (System.nanoTime() - since);
        if (left <= 0) {
            return WorkStatus.RETRY_EXCEEDED.code();
        }
        if (!retries.isRunning(this)) {
            again(Math.min(left, LONGEST_CHECK_NANOS));
        }
        return WAITS;
    }

    /// Tries again after a while; any thread.
    public void again(long nanos) {
        start(System.nanoTime() + nanos);
    }

    private void start(long when) {
        due = when;
        retries.start(this);
    }

    /// How long a call waits for the peer's host to answer before a new one is made. Grows with each call, so that
    /// it is long enough for any round-trip time.
    public long callNanos() {
        return missing ? Math.max(timeoutNanos, System.nanoTime() - missingSince) : timeoutNanos;
    }

    /// How long a request is retried; [Long#MAX_VALUE] for no limit.
    public long retryNanos() {
        return retryNanos;
    }

    /// A request was executed: resets the counters.
    public void progressed() {
        missing = false;
        rnrTries = 0;
        repetitions = 0;
    }

    /// Stops the timer and resets the counters.
    public void stop() {
        progressed();
        retries.stop(this);
    }

    /// Whether a retry is due.
    public boolean isDue() {
        return due - System.nanoTime() <= 0;
    }

    /// Retries if it is due; the engine, without the lock.
    ///
    /// @return nanoseconds until the next call is due
    long onTime() {
        long left = due - System.nanoTime();
        if (left > 0) {
            return left;
        }
        if (!lock.tryEnter()) {
            return LOCKED_NANOS;
        }
        try {
            retries.stop(this);
            retry.run();
        } finally {
            lock.leave();
        }
        return retries.isRunning(this) ? Math.max(0, due - System.nanoTime()) : Long.MAX_VALUE;
    }
}
