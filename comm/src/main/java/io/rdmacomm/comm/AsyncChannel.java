package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Operation;
import io.rdmacomm.comm.data.SendQueue;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/// The operations of an [RdmaChannel] as futures. Thread-safe.
///
/// An operation that cannot start at once waits for its turn. It fails with [io.rdmacomm.verbs.DeadlineException]
/// if it does not start in time. After it has started, it has no deadline and cannot be cancelled: if the caller
/// stops waiting for the future, the operation stays in flight, and the caller must not change or close its buffer
/// before the future is complete. Futures fail with [OperationException], or with [ClosedException] if the
/// operation did not start. They are completed on the polling thread, and so are the stages that depend on them,
/// which must not block. In thread mode CALLER the program has to poll.
///
/// All methods throw what the `try` methods of [RdmaChannel] throw for bad arguments, and [ClosedException] if
/// the channel is closed or has failed.
public final class AsyncChannel {
    private final SendGate gate;
    private final SendQueue<CompletionHandler> sends;
    private final Inbox<?> inbox;
    private final OperationChecks checks;
    private final SendCopies copies;
    private final long timeoutNanos;

    /// @param timeout how long operations wait for room
    AsyncChannel(
            SendGate gate,
            SendQueue<CompletionHandler> sends,
            Inbox<?> inbox,
            OperationChecks checks,
            SendCopies copies,
            Duration timeout) {
        this.gate = gate;
        this.sends = sends;
        this.inbox = inbox;
        this.checks = checks;
        this.copies = copies;
        this.timeoutNanos = timeout.toNanos();
    }

    /// Sends a message; see [RdmaChannel#trySend].
    public CompletableFuture<@Nullable Void> send(BufferSlice message) {
        return start(checks.send(operation(), message));
    }

    /// Sends a message with a tag.
    public CompletableFuture<@Nullable Void> send(BufferSlice message, int tag) {
        return start(checks.send(operation(), message, tag));
    }

    /// Sends a copy of `message`, which needs no registered memory and may be changed when this returns. For short
    /// messages: a channel has at most 16 copies in flight. The first one allocates memory for the channel: at most
    /// 256 KiB, or one message of the maximum length if that is longer.
    ///
    /// @param message at most [RdmaChannel#maxMessageBytes()]
    /// @throws io.rdmacomm.verbs.VerbException if that memory cannot be allocated or registered; the message says
    ///         what to raise
    public CompletableFuture<@Nullable Void> send(MemorySegment message) {
        return start(checks.send(operation(), message.byteSize()), message);
    }

    /// Sends a copy of `message` with a tag; see [#send(MemorySegment)].
    public CompletableFuture<@Nullable Void> send(MemorySegment message, int tag) {
        return start(checks.send(operation(), message.byteSize(), tag), message);
    }

    /// Sends a copy of `message`; see [#send(MemorySegment)].
    public CompletableFuture<@Nullable Void> send(byte[] message) {
        return send(MemorySegment.ofArray(message));
    }

    /// Sends a copy of `message` with a tag; see [#send(MemorySegment)].
    public CompletableFuture<@Nullable Void> send(byte[] message, int tag) {
        return send(MemorySegment.ofArray(message), tag);
    }

    /// Writes into the peer's memory; see [RdmaChannel#tryWrite].
    public CompletableFuture<@Nullable Void> write(BufferSlice from, RemoteBuffer to, long offset) {
        return start(checks.write(operation(), from, to, offset));
    }

    /// Writes into the peer's memory and notifies the peer; see [RdmaChannel#tryWriteNotify].
    public CompletableFuture<@Nullable Void> writeNotify(BufferSlice from, RemoteBuffer to, long offset, int tag) {
        return start(checks.writeNotify(operation(), from, to, offset, tag));
    }

    /// Reads from the peer's memory; see [RdmaChannel#tryRead].
    public CompletableFuture<@Nullable Void> read(BufferSlice into, RemoteBuffer from, long offset) {
        return start(checks.read(operation(), into, from, offset));
    }

    /// Reads any number of ranges of the peer's memory, in parts for which there is room in the send window. The future
    /// completes when all have ended. If they do not all start in time, or one fails, the others may have been
    /// read or not.
    ///
    /// @throws IllegalArgumentException if targets overlap, or a read has more than [RdmaChannel#maxReadTargets()]
    public CompletableFuture<@Nullable Void> read(List<Read> reads) {
        return submit(new PendingReads(operation(), deadline(), reads, checks));
    }

    /// Compares and swaps in the peer's memory; the result is the old value. See
    /// [RdmaChannel#tryCompareAndSwap].
    public CompletableFuture<Long> compareAndSwap(RemoteBuffer in, long offset, long expected, long value) {
        return start(checks.compareAndSwap(operation(), in, offset, expected, value), oldValue -> oldValue);
    }

    /// Adds in the peer's memory; the result is the old value. See [RdmaChannel#tryFetchAndAdd].
    public CompletableFuture<Long> fetchAndAdd(RemoteBuffer in, long offset, long addend) {
        return start(checks.fetchAndAdd(operation(), in, offset, addend), oldValue -> oldValue);
    }

    /// The next message or notice, if there is no handler for them. The receiver closes it. Waits for as long
    /// as the channel is open.
    public CompletableFuture<Message> receive() {
        return inbox.receive();
    }

    private Operation operation() {
        gate.checkOpen();
        return sends.newOperation();
    }

    private CompletableFuture<@Nullable Void> start(Operation operation) {
        return this.<@Nullable Void>start(operation, result -> null);
    }

    private <T extends @Nullable Object> CompletableFuture<T> start(Operation operation, LongFunction<T> value) {
        return submit(new PendingOperation<>(operation, deadline(), value));
    }

    private CompletableFuture<@Nullable Void> start(Operation operation, MemorySegment message) {
        copies.prepare(checks.maxMessage());
        return submit(new CopiedSend<@Nullable Void>(operation, deadline(), result -> null, message, copies));
    }

    private <T extends @Nullable Object> CompletableFuture<T> submit(PendingOperation<T> pending) {
        gate.submit(pending);
        return pending;
    }

    private long deadline() {
        return System.nanoTime() + timeoutNanos;
    }
}
