package io.rdmacomm.verbs;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Options of a completion queue (ibv_create_cq(3)). Immutable.
public final class CompletionQueueOptions extends ValueObject<CompletionQueueOptions> {
    private int capacity;
    private @Nullable CompletionChannel channel;
    private int vector;
    private boolean singleThreaded;

    private CompletionQueueOptions() {}

    /// Room for `capacity` completions, polled only, thread-safe.
    public static CompletionQueueOptions ofCapacity(int capacity) {
        return new CompletionQueueOptions().with(copy -> copy.capacity = capacity);
    }

    /// These options with a channel for events.
    public CompletionQueueOptions withChannel(CompletionChannel value) {
        Objects.requireNonNull(value, "completion channel");
        return with(copy -> copy.channel = value);
    }

    /// These options with another completion vector.
    public CompletionQueueOptions withVector(int value) {
        return with(copy -> copy.vector = value);
    }

    /// These options with or without the promise that only one thread at a time polls and arms; see
    /// [#singleThreaded()].
    public CompletionQueueOptions withSingleThreaded(boolean value) {
        return with(copy -> copy.singleThreaded = value);
    }

    /// The least number of completions that it must hold.
    public int capacity() {
        return capacity;
    }

    /// The channel that reports its events; null if it is only polled.
    public @Nullable CompletionChannel channel() {
        return channel;
    }

    /// The completion vector of its events, 0 to [DeviceLimit#COMPLETION_VECTORS] - 1: each interrupts its
    /// own processor, as distributed by the driver and the system.
    public int vector() {
        return vector;
    }

    /// Whether the caller promises that only one thread at a time polls and arms it, so that it needs no lock.
    public boolean singleThreaded() {
        return singleThreaded;
    }

    @Override
    void check() {
        Checks.range("completion queue capacity", capacity, 1, 1 << 24);
        Checks.range("completion vector", vector, 0, 1 << 16);
    }

    @Override
    @Nullable
    Object[] fields() {
        return new @Nullable Object[] {
            "capacity", capacity, "channel", channel, "vector", vector, "singleThreaded", singleThreaded
        };
    }
}
