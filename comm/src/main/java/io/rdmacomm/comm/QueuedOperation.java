package io.rdmacomm.comm;

/// An operation that may wait for room: the operation, when it is given up, and who is told.
abstract class QueuedOperation implements CompletionHandler {
    private final Operation operation;
    private final long deadline;
    private boolean givenUp;

    /// @param deadline the last moment to begin, of [System#nanoTime()]
    QueuedOperation(Operation operation, long deadline) {
        this.operation = operation;
        this.deadline = deadline;
    }

    final Operation operation() {
        return operation;
    }

    final long deadline() {
        return deadline;
    }

    /// Whether it was taken out of the queue without having begun. Under the send lock.
    final boolean isGivenUp() {
        return givenUp;
    }

    final void giveUp() {
        givenUp = true;
    }

    /// It did not begin and never will.
    abstract void rejected(CommException why);
}
