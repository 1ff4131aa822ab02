package io.rdmacomm.comm;

import org.jspecify.annotations.Nullable;

/// What is remembered of an operation in flight until it has ended. One for each place of an [OperationRing], used
/// again and again.
final class InFlightOperation {
    int kind;
    long length;

    @Nullable
    CompletionHandler handler;

    long context;
    /// When it began, if somebody wants to know; else 0.
    long startNanos;
}
