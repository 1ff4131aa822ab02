package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.comm.CompletionHandler;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.verbs.WorkStatus;
import org.jspecify.annotations.Nullable;

/// Counts completed operations. All tests use this one class, so that the JIT compiler can inline the handler.
final class CompletionCounter implements CompletionHandler {
    private long count;
    private long lastResult;
    private @Nullable WorkStatus failure;

    @Override
    public void onCompletion(RdmaChannel channel, long context, WorkStatus status, long result) {
        count++;
        lastResult = result;
        if (status != WorkStatus.SUCCESS && failure == null) {
            failure = status;
        }
    }

    /// The number of completed operations, failed ones included.
    long count() {
        return count;
    }

    /// The value that the last atomic operation returned.
    long lastResult() {
        return lastResult;
    }

    /// The status of the first operation that failed; null if none did.
    @Nullable
    WorkStatus failure() {
        return failure;
    }
}
