package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Operation;
import io.rdmacomm.verbs.WorkStatus;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/// An operation of the future and blocking forms: it may be queued until its deadline, and completes a
/// future.
final class PendingOperation<T extends @Nullable Object> extends CompletableFuture<T> implements CompletionHandler {
    private final Operation operation;
    private final long deadline;
    private final LongFunction<T> value;
    private boolean expired;

    /// @param deadline the last moment to start, of [System#nanoTime()]
    /// @param value makes the value of the future from the result
    PendingOperation(Operation operation, long deadline, LongFunction<T> value) {
        this.operation = operation;
        this.deadline = deadline;
        this.value = value;
    }

    Operation operation() {
        return operation;
    }

    long deadline() {
        return deadline;
    }

    /// Whether it was taken out of the queue at its deadline. Under the send lock.
    boolean isExpired() {
        return expired;
    }

    void expire() {
        expired = true;
    }

    @Override
    public void onCompletion(RdmaChannel channel, long context, WorkStatus status, long result) {
        if (status == WorkStatus.SUCCESS) {
            complete(value.apply(result));
        } else {
            completeExceptionally(channel.failure(operation.kind(), status));
        }
    }

    @Override
    public String toString() {
        return Operation.name(operation.kind());
    }
}
