package io.rdmacomm.comm;

import io.rdmacomm.verbs.WorkStatus;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/// An operation that ends in a future.
final class FutureOperation<T extends @Nullable Object> extends QueuedOperation {
    private final CompletableFuture<T> future = new CompletableFuture<>();
    private final LongFunction<T> result;
    private final int kind;

    /// @param result what the future is completed with
    FutureOperation(Operation operation, long deadline, LongFunction<T> result) {
        super(operation, deadline);
        this.result = result;
        this.kind = operation.kind();
    }

    CompletableFuture<T> future() {
        return future;
    }

    @Override
    public void onCompletion(RdmaChannel channel, long context, WorkStatus status, long value) {
        if (status == WorkStatus.SUCCESS) {
            future.complete(result.apply(value));
        } else {
            future.completeExceptionally(channel.failure(kind, status));
        }
    }

    @Override
    void rejected(CommException why) {
        future.completeExceptionally(why);
    }
}
