package io.rdmacomm.verbs;

import org.jspecify.annotations.Nullable;

/// How a completion queue is created (ibv_create_cq(3)).
///
/// @param capacity how many completions it must hold at least
/// @param channel where its events go when it is armed; null when it is only polled
/// @param vector which completion vector serves it
/// @param singleThreaded the caller promises that one thread at a time polls and arms it; its lock is skipped
public record CompletionQueueOptions(
        int capacity, @Nullable CompletionChannel channel, int vector, boolean singleThreaded) {
    /// Checks the capacity.
    public CompletionQueueOptions {
        Checks.range("completion queue capacity", capacity, 1, 1 << 24);
        Checks.range("completion vector", vector, 0, 1 << 16);
    }

    /// Room for `capacity` completions, polled only, usable from any thread.
    public static CompletionQueueOptions ofCapacity(int capacity) {
        return new CompletionQueueOptions(capacity, null, 0, false);
    }

    /// These options with a channel for events.
    public CompletionQueueOptions withChannel(CompletionChannel value) {
        return new CompletionQueueOptions(capacity, value, vector, singleThreaded);
    }

    /// These options with the promise that one thread at a time polls and arms.
    public CompletionQueueOptions withSingleThreaded(boolean value) {
        return new CompletionQueueOptions(capacity, channel, vector, value);
    }
}
