package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Operation;
import io.rdmacomm.comm.data.RdmaAdapter;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaInterruptedException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/// The operations of an [RdmaChannel] as blocking calls, for platform and virtual threads. Thread-safe. Handlers
/// must not use them: a blocking call in a handler would wait for itself, so it throws [IllegalStateException].
///
/// All methods throw [OperationException] if the operation failed, [ClosedException] if the channel is closed or has
/// failed, [DeadlineException] if the operation has not ended in time, [RdmaInterruptedException] if the thread was
/// interrupted, and what the `try` methods of [RdmaChannel] throw for bad arguments.
///
/// **After a [DeadlineException] or an [RdmaInterruptedException] the operation may still use its memory**:
/// if it had started, it continues, and may still reach the peer. Do not change or close the buffer before
/// [RdmaChannel#inFlight()] is 0, or the endpoint is closed. If it had not started, it never will.
public final class BlockingChannel {
    private final String name;
    private final SendGate gate;
    private final RdmaAdapter<CompletionHandler> adapter;
    private final Inbox<?> inbox;
    private final OperationChecks checks;
    private final SendCopies copies;
    private final Duration timeout;

    /// @param name of the channel
    /// @param timeout how long each call may take
    BlockingChannel(
            String name,
            SendGate gate,
            RdmaAdapter<CompletionHandler> adapter,
            Inbox<?> inbox,
            OperationChecks checks,
            SendCopies copies,
            Duration timeout) {
        this.name = name;
        this.gate = gate;
        this.adapter = adapter;
        this.inbox = inbox;
        this.checks = checks;
        this.copies = copies;
        this.timeout = timeout;
    }

    /// Sends a message; returns when the peer's device has received it.
    public void send(BufferSlice message) {
        run(checks.send(operation(), message));
    }

    /// Sends a message with a tag.
    public void send(BufferSlice message, int tag) {
        run(checks.send(operation(), message, tag));
    }

    /// Sends a copy of `message`, which needs no registered memory. For short messages: a channel has at most 16
    /// copies in flight. The first one allocates memory for the channel: at most 256 KiB, or one message of the
    /// maximum length if that is longer. The program may change `message` when this has returned or thrown.
    ///
    /// @param message at most [RdmaChannel#maxMessageBytes()]
    /// @throws io.rdmacomm.verbs.VerbException if that memory cannot be allocated or registered; the message says
    ///         what to raise
    public void send(MemorySegment message) {
        run(checks.send(operation(), message.byteSize()), message);
    }

    /// Sends a copy of `message` with a tag; see [#send(MemorySegment)].
    public void send(MemorySegment message, int tag) {
        run(checks.send(operation(), message.byteSize(), tag), message);
    }

    /// Sends a copy of `message`; see [#send(MemorySegment)].
    public void send(byte[] message) {
        send(MemorySegment.ofArray(message));
    }

    /// Sends a copy of `message` with a tag; see [#send(MemorySegment)].
    public void send(byte[] message, int tag) {
        send(MemorySegment.ofArray(message), tag);
    }

    /// Writes into the peer's memory.
    public void write(BufferSlice from, RemoteBuffer to, long offset) {
        run(checks.write(operation(), from, to, offset));
    }

    /// Writes into the peer's memory and notifies the peer.
    public void writeNotify(BufferSlice from, RemoteBuffer to, long offset, int tag) {
        run(checks.writeNotify(operation(), from, to, offset, tag));
    }

    /// Reads from the peer's memory.
    public void read(BufferSlice into, RemoteBuffer from, long offset) {
        run(checks.read(operation(), into, from, offset));
    }

    /// Reads any number of ranges of the peer's memory, in parts for which there is room in the send window. After
    /// a [DeadlineException] or an [RdmaInterruptedException], some parts may be in flight; the others never start.
    ///
    /// @throws IllegalArgumentException if targets overlap, or a read has more than [RdmaChannel#maxReadTargets()]
    public void read(List<Read> reads) {
        run(new PendingReads(operation(), deadline(), reads, checks));
    }

    /// Compares and swaps in the peer's memory.
    ///
    /// @return the old value
    public long compareAndSwap(RemoteBuffer in, long offset, long expected, long value) {
        return run(checks.compareAndSwap(operation(), in, offset, expected, value));
    }

    /// Adds in the peer's memory.
    ///
    /// @return the old value
    public long fetchAndAdd(RemoteBuffer in, long offset, long addend) {
        return run(checks.fetchAndAdd(operation(), in, offset, addend));
    }

    /// Waits for the next message or notice, if there is no handler for them. The caller closes it.
    ///
    /// @throws PeerDoneException if the peer has closed its side in an orderly way, and all its messages were
    ///         received
    public Message receive() {
        FutureWait wait = FutureWait.on(adapter.group());
        CompletableFuture<Message> next = inbox.receive();
        try {
            if (!wait.await(next, deadline()) && next.cancel(false)) {
                throw new DeadlineException(
                        "no message arrived on " + name + " within " + timeout.toMillis() + " ms" + hint(), null);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            if (next.cancel(false)) {
                throw new RdmaInterruptedException("interrupted while waiting for a message on " + name, e);
            }
        }
        return FutureWait.result(next);
    }

    /// Explains a missing message: the peer may have nothing to send, or no receive left.
    private String hint() {
        int unclosed = inbox.unclosed(adapter::holds);
        return unclosed == 0
                ? ""
                : "; " + unclosed
                        + " messages that it received before are not closed, and the peer cannot use their receives";
    }

    private Operation operation() {
        gate.checkOpen();
        return adapter.sends().newOperation();
    }

    private long deadline() {
        return System.nanoTime() + timeout.toNanos();
    }

    private long run(Operation operation) {
        return run(new PendingOperation<>(operation, deadline(), result -> result));
    }

    private void run(Operation operation, MemorySegment message) {
        copies.prepare(checks.maxMessage());
        var _ = run(new CopiedSend<>(operation, deadline(), result -> result, message, copies));
    }

    private <T extends @Nullable Object> T run(PendingOperation<T> pending) {
        FutureWait wait = FutureWait.on(adapter.group());
        gate.submit(pending);
        try {
            if (!wait.await(pending, pending.deadline())) {
                boolean started = !gate.withdraw(pending);
                if (!pending.isDone()) {
                    throw started
                            ? new DeadlineException(pending + " on " + name + " has not ended in time", null)
                            : gate.timedOut(pending);
                }
            }
        } catch (InterruptedException e) {
            gate.withdraw(pending);
            throw new RdmaInterruptedException("interrupted during a " + pending + " on " + name, e);
        }
        return FutureWait.result(pending);
    }
}
