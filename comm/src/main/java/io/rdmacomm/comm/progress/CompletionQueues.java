package io.rdmacomm.comm.progress;

import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.DeviceLimit;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/// Creates the completion queues of a session, and spreads those with events over the device's completion vectors:
/// all events of one vector interrupt the same processor. Sessions of a process take turns. Thread-safe.
public final class CompletionQueues {
    private static final Map<String, AtomicInteger> TURNS = new ConcurrentHashMap<>();

    private final Context context;
    private final OptionalInt vector;

    /// Spreads them over all completion vectors.
    public CompletionQueues(Context context) {
        this(context, OptionalInt.empty());
    }

    /// @param vector the vector for all events; empty to spread them
    public CompletionQueues(Context context, OptionalInt vector) {
        this.context = context;
        this.vector = vector;
    }

    /// The device that they belong to.
    Context context() {
        return context;
    }

    /// A completion queue that is only polled, without events.
    CompletionQueue create(CompletionQueueOptions options) {
        return context.createCompletionQueue(options);
    }

    /// A completion queue whose events `channel` reports.
    CompletionQueue create(CompletionQueueOptions options, CompletionChannel channel) {
        int chosen = vector.isPresent() ? vector.getAsInt() : next();
        return context.createCompletionQueue(options.withChannel(channel).withVector(chosen));
    }

    /// Picks the next vector. The processes of a host do not coordinate, so each begins at a random vector.
    private int next() {
        int vectors = (int) Math.max(1, context.limit(DeviceLimit.COMPLETION_VECTORS));
        AtomicInteger turn = TURNS.computeIfAbsent(
                context.device().name(),
                name -> new AtomicInteger(ThreadLocalRandom.current().nextInt(vectors)));
        return turn.getAndUpdate(last -> (last + 1) % vectors) % vectors;
    }
}
