package io.rdmacomm.comm;

import java.util.concurrent.CompletableFuture;

/// The operations of an [RdmaChannel] as futures. Usable from any thread.
///
/// An operation for which there is no room waits its turn, and fails with [DeadlineException] when it has
/// not begun in time; once begun it cannot be cancelled. Futures fail with [OperationException], or with
/// [ClosedException] if the operation did not begin. They are completed on the polling thread, and what
/// depends on them runs there: it must not block. In thread mode CALLER somebody has to poll.
@SuppressWarnings("DoNotCallSuggester")
public final class AsyncChannel {
    AsyncChannel() {}

    /// Sends a message; see [RdmaChannel#trySend].
    public CompletableFuture<Void> send(BufferSlice message) {
        return CompletableFuture.failedFuture(Checks.unfinished());
    }

    /// Sends a message with a tag.
    public CompletableFuture<Void> send(BufferSlice message, int tag) {
        return CompletableFuture.failedFuture(Checks.unfinished());
    }

    /// Writes into the peer's memory; see [RdmaChannel#tryWrite].
    public CompletableFuture<Void> write(BufferSlice from, RemoteBuffer to, long offset) {
        return CompletableFuture.failedFuture(Checks.unfinished());
    }

    /// Writes into the peer's memory and gives it a notice; see [RdmaChannel#tryWriteNotify].
    public CompletableFuture<Void> writeNotify(BufferSlice from, RemoteBuffer to, long offset, int tag) {
        return CompletableFuture.failedFuture(Checks.unfinished());
    }

    /// Reads from the peer's memory; see [RdmaChannel#tryRead].
    public CompletableFuture<Void> read(BufferSlice into, RemoteBuffer from, long offset) {
        return CompletableFuture.failedFuture(Checks.unfinished());
    }

    /// Compares and swaps in the peer's memory; the result is the old value. See
    /// [RdmaChannel#tryCompareAndSwap].
    public CompletableFuture<Long> compareAndSwap(RemoteBuffer in, long offset, long expected, long value) {
        return CompletableFuture.failedFuture(Checks.unfinished());
    }

    /// Adds in the peer's memory; the result is the old value. See [RdmaChannel#tryFetchAndAdd].
    public CompletableFuture<Long> fetchAndAdd(RemoteBuffer in, long offset, long addend) {
        return CompletableFuture.failedFuture(Checks.unfinished());
    }

    /// The next message or notice, when there is no handler for them. The receiver closes it. Waits for as
    /// long as the channel is open.
    public CompletableFuture<Message> receive() {
        return CompletableFuture.failedFuture(Checks.unfinished());
    }
}
