package io.rdmacomm.verbs;

import java.time.Duration;

/// How a reliable queue pair repeats requests before it fails (ibv_modify_qp(3)).
///
/// @param timeout how long to wait for an acknowledgement (`timeout`)
/// @param retryCount how often an unacknowledged request is repeated, 0 to 7 (`retry_cnt`)
/// @param rnrTimer how long the peer waits after a message that found no receive here (`min_rnr_timer`)
/// @param rnrRetry how often a message is repeated that found no receive at the peer, 0 to 6, or 7 for no limit
///         (`rnr_retry`)
public record RetryOptions(AckTimeout timeout, int retryCount, RnrTimer rnrTimer, int rnrRetry) {
    /// 7 retries, 67 ms apart; no limit for messages that find no receive, 0.64 ms apart.
    public static RetryOptions defaults() {
        return new RetryOptions(new AckTimeout(14), 7, new RnrTimer(12), 7);
    }

    /// These options with another acknowledgement timeout and retry count.
    ///
    /// @param atLeast the timeout, rounded up as by [AckTimeout#atLeast(Duration)]
    /// @param retries 0 to 7
    public RetryOptions withTimeout(Duration atLeast, int retries) {
        return new RetryOptions(AckTimeout.atLeast(atLeast), retries, rnrTimer, rnrRetry);
    }

    /// These options with other numbers for messages that find no receive.
    ///
    /// @param retries how often this side repeats such a message, 0 to 6, or 7 for no limit
    /// @param atLeast how long the peer waits before it does, rounded up as by [RnrTimer#atLeast(Duration)]
    public RetryOptions withReceiverNotReady(int retries, Duration atLeast) {
        return new RetryOptions(timeout, retryCount, RnrTimer.atLeast(atLeast), retries);
    }
}
