package io.rdmacomm.comm;

import io.rdmacomm.verbs.WorkStatus;
import org.jspecify.annotations.Nullable;

/// An operation that a thread waits for.
final class BlockingOperation extends QueuedOperation {
    private final RdmaChannel channel;
    private final Signal ended;
    private long result;
    private @Nullable CommException failure;

    BlockingOperation(RdmaChannel channel, Operation operation, long deadline) {
        super(operation, deadline);
        this.channel = channel;
        this.ended = new Signal(channel.adapter().group());
    }

    @Override
    public void onCompletion(RdmaChannel on, long context, WorkStatus status, long value) {
        result = value;
        if (status != WorkStatus.SUCCESS) {
            failure = on.failure(operation().kind(), status);
        }
        ended.set();
    }

    @Override
    void rejected(CommException why) {
        failure = why instanceof ClosedException closed
                ? closed.again()
                : new DeadlineException(String.valueOf(why.getMessage()), why);
        ended.set();
    }

    /// Waits until it has ended.
    ///
    /// @return its result
    long await() {
        try {
            if (!ended.await(deadline())) {
                boolean begun = !channel.gate().withdraw(this);
                if (!ended.isSet()) {
                    throw new DeadlineException(
                            Operation.name(operation().kind()) + " on " + channel
                                    + (begun
                                            ? " has not ended in time"
                                            : " found no room in time: the send window"
                                                    + " is full or the peer receives too slowly"),
                            null);
                }
            }
        } catch (CommInterruptedException | IllegalStateException e) {
            channel.gate().withdraw(this);
            throw e;
        }
        if (failure != null) {
            throw failure;
        }
        return result;
    }
}
