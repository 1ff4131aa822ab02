package io.rdmacomm.soft;

import io.rdmacomm.verbs.AckTimeout;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.RnrTimer;
import io.rdmacomm.verbs.WorkStatus;

/// How long a request waits for a peer that does not answer or has no receive, and when it is tried again
/// (ibv_modify_qp(3): timeout, retry_cnt, rnr_retry). Guarded by the queue pair's lock, but for the time it is
/// due.
final class WaitPolicy {
    /// When the queue pair is busy on another thread, look again after this time.
    static final long LOCKED_NANOS = 50_000;

    private static final int RNR_FOR_EVER = 7;
    private static final long FIRST_LOOK_NANOS = 200_000;
    private static final long LONGEST_LOOK_NANOS = 10_000_000;

    private long timeoutNanos;
    private long patienceNanos;
    private int rnrRetries;
    private int rnrTries;
    private boolean missing;
    private long missingSince;
    private long lookNanos;
    private volatile long life;
    private volatile long due;

    void configure(QueuePairAttributes attributes) {
        timeoutNanos = attributes.timeout().nanos();
        patienceNanos = attributes.timeout().equals(AckTimeout.INFINITE)
                ? Long.MAX_VALUE
                : timeoutNanos * (attributes.retryCount() + 1);
        rnrRetries = attributes.rnrRetry();
        progressed();
    }

    /// The peer's queue pair did not answer.
    ///
    /// @param reached whether its host has answered, and just now brings it the question
    /// @return [RequestExecutor#DONE] if it is tried again, or the status to fail with
    int peerMissing(long now, boolean reached) {
        if (!missing) {
            missing = true;
            missingSince = now;
            lookNanos = FIRST_LOOK_NANOS;
        }
        long left = patienceNanos - (now - missingSince);
        if (left <= 0 && !reached) {
            return WorkStatus.RETRY_EXCEEDED.code();
        }
        due = now + (left <= 0 ? lookNanos : Math.min(left, lookNanos));
        lookNanos = Math.min(lookNanos * 2, LONGEST_LOOK_NANOS);
        return RequestExecutor.DONE;
    }

    /// The peer had no receive.
    ///
    /// @param timer the code of the time it asks to wait
    /// @return [RequestExecutor#DONE] if it is tried again, or the status to fail with
    int receiverNotReady(long now, int timer) {
        missing = false;
        if (rnrRetries != RNR_FOR_EVER && rnrTries >= rnrRetries) {
            return WorkStatus.RECEIVER_NOT_READY_EXCEEDED.code();
        }
        rnrTries++;
        due = now + RnrTimer.nanos(timer);
        return RequestExecutor.DONE;
    }

    /// How long a call waits for the peer's host to answer before another one is made. Grows with each, so that it
    /// is not too short for a long line.
    long callNanos(long now) {
        return missing ? Math.max(timeoutNanos, now - missingSince) : timeoutNanos;
    }

    /// How long a request is repeated, [Long#MAX_VALUE] for ever.
    long patienceNanos() {
        return patienceNanos;
    }

    /// A request was carried out: the counters begin anew.
    void progressed() {
        missing = false;
        rnrTries = 0;
    }

    /// When the oldest request is tried again, in the time of [System#nanoTime()].
    long due() {
        return due;
    }

    /// Counts how often what waited was given up.
    long life() {
        return life;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // only under the lock
    void newLife() {
        life++;
        progressed();
    }
}
