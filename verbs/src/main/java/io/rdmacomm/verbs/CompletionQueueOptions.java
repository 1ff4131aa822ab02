package io.rdmacomm.verbs;

import org.jspecify.annotations.Nullable;

/// Options of a completion queue (ibv_create_cq(3)).
///
/// @param capacity how many completions it must hold, at least
/// @param channel the channel that reports its events; null if it is only polled
/// @param vector the completion vector of its events, 0 to [DeviceLimit#COMPLETION_VECTORS] - 1: each interrupts a
///         processor of its own, as the driver and the system distribute them
/// @param singleThreaded the caller promises that only one thread at a time polls and arms it, so that it needs no
///         lock
public record CompletionQueueOptions(
        int capacity, @Nullable CompletionChannel channel, int vector, boolean singleThreaded) {
    /// Checks the capacity.
    public CompletionQueueOptions {
        Checks.range("completion queue capacity", capacity, 1, 1 << 24);
        Checks.range("completion vector", vector, 0, 1 << 16);
    }

    /// Room for `capacity` completions, polled only, thread-safe.
    public static CompletionQueueOptions ofCapacity(int capacity) {
        return new CompletionQueueOptions(capacity, null, 0, false);
    }

    /// These options with a channel for events.
    public CompletionQueueOptions withChannel(CompletionChannel value) {
        return new CompletionQueueOptions(capacity, value, vector, singleThreaded);
    }

    /// These options with another completion vector.
    public CompletionQueueOptions withVector(int value) {
        return new CompletionQueueOptions(capacity, channel, value, singleThreaded);
    }

    /// These options with the promise that only one thread at a time polls and arms, or without.
    public CompletionQueueOptions withSingleThreaded(boolean value) {
        return new CompletionQueueOptions(capacity, channel, vector, value);
    }
}
