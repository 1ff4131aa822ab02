package io.rdmacomm.comm;

import io.rdmacomm.verbs.WorkStatus;

/// Receives the result of an operation, exactly once for every accepted operation.
@FunctionalInterface
public interface CompletionHandler {
    /// A handler that ignores the result; a failure still fails the endpoint.
    CompletionHandler NONE = (channel, context, status, result) -> {};

    /// An operation has ended. Runs on the polling thread: it must not block. It may start operations with
    /// the `try` methods, and should not allocate. An exception is counted and reported to
    /// [SessionListener#onError].
    ///
    /// @param channel the channel it ran on
    /// @param context the number that was given with the operation
    /// @param status SUCCESS; FLUSHED when the channel ended before the operation did; else why it failed
    /// @param result the old value of an atomic operation, else the length in bytes; 0 unless successful
    void onCompletion(RdmaChannel channel, long context, WorkStatus status, long result);
}
