package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Operation;
import io.rdmacomm.verbs.WorkStatus;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/// An operation of the future and blocking forms: it may be queued until its deadline, and completes a
/// future.
class PendingOperation<T extends @Nullable Object> extends CompletableFuture<T> implements CompletionHandler {
    private final Operation operation;
    private final long deadline;
    private final LongFunction<T> value;
    private boolean expired;
    private @Nullable PendingOperation<?> startedBefore;

    /// @param deadline the last moment to start, of [System#nanoTime()]
    /// @param value makes the value of the future from the result
    PendingOperation(Operation operation, long deadline, LongFunction<T> value) {
        this.operation = operation;
        this.deadline = deadline;
        this.value = value;
    }

    final Operation operation() {
        return operation;
    }

    final long deadline() {
        return deadline;
    }

    /// Whether it was removed from the queue at its deadline. Under the send lock.
    final boolean isExpired() {
        return expired;
    }

    final void expire() {
        expired = true;
    }

    /// Starts it, or as much of it as possible. Under the send lock.
    ///
    /// @return ACCEPTED if all of it has started
    Admission attempt(SendGate gate) {
        return gate.attempt(this);
    }

    /// Links it to the operation that has started before it in the same round: a list would need memory. On the polling
    /// thread.
    final void startedAfter(@Nullable PendingOperation<?> before) {
        startedBefore = before;
    }

    /// The operation that has started before it, which it forgets. On the polling thread.
    final @Nullable PendingOperation<?> startedBefore() {
        PendingOperation<?> before = startedBefore;
        startedBefore = null;
        return before;
    }

    /// All of it has started. Without the send lock, and perhaps after it has ended.
    void started() {}

    /// It does not start, or not all of it. Without the send lock.
    void fail(Throwable why) {
        completeExceptionally(why);
    }

    /// Puts its message in place, as the next operation to start. Under the send lock.
    ///
    /// @return false if there is no room for the message now
    boolean load() {
        return true;
    }

    /// It is queued, and the program may change its message meanwhile. Under the send lock.
    void keep() {}

    /// It will never start. Under the send lock.
    void unload() {}

    /// It has started and ended; its future completes next.
    void ended() {}

    /// Whether it waits for room for its message.
    boolean isCrowded() {
        return false;
    }

    @Override
    public void onCompletion(RdmaChannel channel, long context, WorkStatus status, long result) {
        ended();
        if (status == WorkStatus.SUCCESS) {
            complete(value.apply(result));
        } else {
            completeExceptionally(channel.failure(operation.kind(), status));
        }
    }

    @Override
    public final String toString() {
        return Operation.name(operation.kind());
    }
}
