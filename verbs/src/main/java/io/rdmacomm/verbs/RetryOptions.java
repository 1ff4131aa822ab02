package io.rdmacomm.verbs;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// How a reliable queue pair retries requests before it fails (ibv_modify_qp(3)). Immutable.
public final class RetryOptions extends ValueObject<RetryOptions> {
    private static final RetryOptions DEFAULTS = new RetryOptions();

    private AckTimeout timeout = new AckTimeout(14);
    private int retryCount = 7;
    private RnrTimer rnrTimer = new RnrTimer(12);
    private int rnrRetry = 7;

    private RetryOptions() {}

    /// 7 retries, at least 67 ms apart; no limit for messages that find no receive, 0.64 ms apart.
    public static RetryOptions defaults() {
        return DEFAULTS;
    }

    /// These options with another acknowledgement timeout and retry count.
    ///
    /// @param atLeast the timeout, rounded up as by [AckTimeout#atLeast(Duration)]
    /// @param retries 0 to 7
    public RetryOptions withTimeout(Duration atLeast, int retries) {
        return withTimeout(AckTimeout.atLeast(atLeast), retries);
    }

    /// These options with another acknowledgement timeout and retry count.
    ///
    /// @param retries 0 to 7
    public RetryOptions withTimeout(AckTimeout value, int retries) {
        return with(copy -> {
            copy.timeout = value;
            copy.retryCount = retries;
        });
    }

    /// These options with other numbers for messages that find no receive.
    ///
    /// @param retries how often this side retries such a message, 0 to 6, or 7 for no limit
    /// @param atLeast the delay before each retry, rounded up as by [RnrTimer#atLeast(Duration)]
    public RetryOptions withReceiverNotReady(int retries, Duration atLeast) {
        return withReceiverNotReady(retries, RnrTimer.atLeast(atLeast));
    }

    /// These options with other numbers for messages that find no receive.
    ///
    /// @param retries how often this side retries such a message, 0 to 6, or 7 for no limit
    /// @param timer the delay before each retry
    public RetryOptions withReceiverNotReady(int retries, RnrTimer timer) {
        return with(copy -> {
            copy.rnrRetry = retries;
            copy.rnrTimer = timer;
        });
    }

    /// How long to wait for an acknowledgement (`timeout`).
    public AckTimeout timeout() {
        return timeout;
    }

    /// How often an unacknowledged request is retried, 0 to 7 (`retry_cnt`).
    public int retryCount() {
        return retryCount;
    }

    /// How long the peer waits after a message that found no receive here (`min_rnr_timer`).
    public RnrTimer rnrTimer() {
        return rnrTimer;
    }

    /// How often a message that found no receive at the peer is retried, 0 to 6, or 7 for no limit (`rnr_retry`).
    public int rnrRetry() {
        return rnrRetry;
    }

    @Override
    @Nullable
    Object[] fields() {
        return new Object[] {"timeout", timeout, "retryCount", retryCount, "rnrTimer", rnrTimer, "rnrRetry", rnrRetry};
    }
}
