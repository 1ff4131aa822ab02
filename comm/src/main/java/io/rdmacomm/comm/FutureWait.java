package io.rdmacomm.comm;

import io.rdmacomm.comm.progress.CompletionGroup;
import io.rdmacomm.comm.progress.Waiter;
import io.rdmacomm.verbs.RdmaException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/// A thread that blocks until a future of a channel is complete.
final class FutureWait {
    private final Waiter waiter;

    private FutureWait(Waiter waiter) {
        this.waiter = waiter;
    }

    /// Makes the calling thread wait. Call it before the operation starts.
    ///
    /// @param group the completions of the channel
    /// @throws IllegalStateException in a handler of the group, which would wait for itself
    static FutureWait on(CompletionGroup group) {
        return new FutureWait(Waiter.on(group));
    }

    /// Blocks until the future is complete.
    ///
    /// @param deadline the last moment, of [System#nanoTime()]
    /// @return whether it is
    boolean await(CompletableFuture<?> future, long deadline) throws InterruptedException {
        var _ = future.whenComplete((value, failure) -> waiter.wake());
        return waiter.await(future::isDone, deadline);
    }

    /// The value of a complete future.
    ///
    /// @throws RdmaException its failure
    static <T extends @Nullable Object> T result(CompletableFuture<T> complete) {
        try {
            return complete.join();
        } catch (CompletionException e) {
            throw switch (e.getCause()) {
                case ClosedException why -> why.again();
                case RdmaException why -> why;
                case null, default -> e;
            };
        }
    }
}
