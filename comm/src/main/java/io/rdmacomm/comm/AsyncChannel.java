package io.rdmacomm.comm;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/// The operations of an [RdmaChannel] as futures. Usable from any thread.
///
/// An operation for which there is no room waits its turn, and fails with [DeadlineException] when it has
/// not begun in time; once begun it cannot be cancelled. Futures fail with [OperationException], or with
/// [ClosedException] if the operation did not begin. They are completed on the polling thread, and what
/// depends on them runs there: it must not block. In thread mode CALLER somebody has to poll.
public final class AsyncChannel {
    private final RdmaChannel channel;
    private final long patienceNanos;

    AsyncChannel(RdmaChannel channel, Duration patience) {
        this.channel = channel;
        this.patienceNanos = patience.toNanos();
    }

    /// Sends a message; see [RdmaChannel#trySend].
    public CompletableFuture<@Nullable Void> send(BufferSlice message) {
        return done(operation().send(message));
    }

    /// Sends a message with a tag.
    public CompletableFuture<@Nullable Void> send(BufferSlice message, int tag) {
        return done(operation().send(message, tag));
    }

    /// Writes into the peer's memory; see [RdmaChannel#tryWrite].
    public CompletableFuture<@Nullable Void> write(BufferSlice from, RemoteBuffer to, long offset) {
        return done(operation().write(from, to, offset));
    }

    /// Writes into the peer's memory and gives it a notice; see [RdmaChannel#tryWriteNotify].
    public CompletableFuture<@Nullable Void> writeNotify(BufferSlice from, RemoteBuffer to, long offset, int tag) {
        return done(operation().writeNotify(from, to, offset, tag));
    }

    /// Reads from the peer's memory; see [RdmaChannel#tryRead].
    public CompletableFuture<@Nullable Void> read(BufferSlice into, RemoteBuffer from, long offset) {
        return done(operation().read(into, from, offset));
    }

    /// Compares and swaps in the peer's memory; the result is the old value. See
    /// [RdmaChannel#tryCompareAndSwap].
    public CompletableFuture<Long> compareAndSwap(RemoteBuffer in, long offset, long expected, long value) {
        return value(operation().compareAndSwap(in, offset, expected, value));
    }

    /// Adds in the peer's memory; the result is the old value. See [RdmaChannel#tryFetchAndAdd].
    public CompletableFuture<Long> fetchAndAdd(RemoteBuffer in, long offset, long addend) {
        return value(operation().fetchAndAdd(in, offset, addend));
    }

    /// The next message or notice, when there is no handler for them. The receiver closes it. Waits for as
    /// long as the channel is open.
    public CompletableFuture<Message> receive() {
        return channel.adapter().receives().receive();
    }

    private Operation operation() {
        channel.gate().checkOpen();
        return new Operation(channel.rules());
    }

    private CompletableFuture<@Nullable Void> done(Operation operation) {
        FutureOperation<@Nullable Void> future = new FutureOperation<>(operation, deadline(), result -> null);
        channel.gate().submit(future);
        return future.future();
    }

    private CompletableFuture<Long> value(Operation operation) {
        FutureOperation<Long> future = new FutureOperation<>(operation, deadline(), result -> result);
        channel.gate().submit(future);
        return future.future();
    }

    private long deadline() {
        return System.nanoTime() + patienceNanos;
    }
}
