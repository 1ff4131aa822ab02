package io.rdmacomm.cli.bench;

import io.rdmacomm.comm.CompletionHandler;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.verbs.WorkStatus;
import org.jspecify.annotations.Nullable;

/// Counts operations that have ended. One class for all tests, so that the call of it stays a direct one.
final class Tally implements CompletionHandler {
    private long done;
    private long result;
    private @Nullable WorkStatus failure;

    @Override
    public void onCompletion(RdmaChannel channel, long context, WorkStatus status, long value) {
        done++;
        result = value;
        if (status != WorkStatus.SUCCESS && failure == null) {
            failure = status;
        }
    }

    /// Operations that have ended.
    long done() {
        return done;
    }

    /// The old value of the last atomic operation.
    long result() {
        return result;
    }

    /// How the first operation failed that did; null when all are well.
    @Nullable
    WorkStatus failure() {
        return failure;
    }
}
