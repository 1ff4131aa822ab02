package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Operation;
import io.rdmacomm.comm.data.PreparedOperations;
import io.rdmacomm.verbs.WorkStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A list of READs that completes one future. They start in parts, for each of which there is room in the send window.
/// The future ends when no part is in flight any more, so that the memory is free then.
final class PendingReads extends PendingOperation<@Nullable Void> {
    private final List<Read> reads;
    private final OperationChecks checks;
    // Under the send lock.
    private int next;
    private @Nullable Throwable stopped;
    // Under the monitor of this object, because parts end on the polling thread.
    private int parts;
    private boolean over;
    private @Nullable Throwable failure;

    /// @param first for the kind of the operation in messages
    /// @throws IllegalArgumentException if a buffer or its rights do not fit, or two targets overlap
    PendingReads(Operation first, long deadline, List<Read> reads, OperationChecks checks) {
        super(first, deadline, result -> null);
        this.reads = reads.stream().map(Read::fixed).toList();
        this.checks = checks;
        Read.checkTargets(this.reads);
        for (Read read : this.reads) {
            checks.read(first, read);
        }
    }

    @Override
    Admission attempt(SendGate gate) {
        return gate.attempt(this);
    }

    /// Fills `batch` with the next part. Under the send lock.
    ///
    /// @return whether there is one
    boolean fill(PreparedOperations<CompletionHandler> batch) {
        batch.clear();
        // Half of the window, so that one part can be in flight while the next one starts.
        int end = Math.min(reads.size(), next + (batch.capacity() + 1) / 2);
        for (int i = next; i < end; i++) {
            try {
                checks.read(batch.next(), reads.get(i));
            } catch (RuntimeException e) {
                // A buffer was closed meanwhile.
                batch.clear();
                stopped = e;
                return false;
            }
            batch.add(i == end - 1 ? this : null, 0);
        }
        return batch.size() > 0;
    }

    /// The part is about to be posted. Under the send lock.
    void starts(int count) {
        next += count;
        synchronized (this) {
            parts++;
        }
    }

    /// The part was not posted. Under the send lock.
    void startsNot() {
        synchronized (this) {
            parts--;
        }
    }

    /// No more parts start. Without the send lock, because the future may complete.
    @Override
    void started() {
        end(stopped, false, false);
    }

    /// It is not continued. Without the send lock.
    @Override
    void fail(Throwable why) {
        end(why, false, false);
    }

    /// A part has ended. If it failed, the connection has ended, and others start no more.
    @Override
    public void onCompletion(RdmaChannel channel, long context, WorkStatus status, long result) {
        boolean failed = status != WorkStatus.SUCCESS;
        end(failed ? channel.failure(Operation.READ, status) : null, true, failed && status != WorkStatus.FLUSHED);
    }

    /// @param why the failure that ends it; null if there is none
    /// @param part whether a part has ended; otherwise, no more parts start
    /// @param cause whether everything else has failed because of `why`
    private void end(@Nullable Throwable why, boolean part, boolean cause) {
        Throwable reason;
        synchronized (this) {
            failure = failure == null || cause ? why : failure;
            parts -= part ? 1 : 0;
            over |= !part || why != null;
            if (parts > 0 || !over) {
                return;
            }
            reason = failure;
        }
        if (reason == null) {
            complete(null);
        } else {
            completeExceptionally(reason);
        }
    }
}
