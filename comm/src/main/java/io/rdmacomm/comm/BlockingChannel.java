package io.rdmacomm.comm;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/// The operations of an [RdmaChannel] as blocking calls, for platform and virtual threads. Usable from any
/// thread, but not in a handler, where it would wait for itself: there it throws [IllegalStateException].
///
/// All methods throw [DeadlineException] when the operation has not ended in time (if it had begun, its
/// memory stays in use until the channel is closed), [OperationException] when it failed, [ClosedException]
/// when the channel is closed or has failed, [CommInterruptedException] when the thread was interrupted,
/// and what the `try` methods of [RdmaChannel] throw for bad arguments.
public final class BlockingChannel {
    private final RdmaChannel channel;
    private final Duration patience;

    BlockingChannel(RdmaChannel channel, Duration patience) {
        this.channel = channel;
        this.patience = patience;
    }

    /// Sends a message: returns when the peer's device has it.
    public void send(BufferSlice message) {
        run(operation().send(message));
    }

    /// Sends a message with a tag.
    public void send(BufferSlice message, int tag) {
        run(operation().send(message, tag));
    }

    /// Writes into the peer's memory.
    public void write(BufferSlice from, RemoteBuffer to, long offset) {
        run(operation().write(from, to, offset));
    }

    /// Writes into the peer's memory and gives it a notice.
    public void writeNotify(BufferSlice from, RemoteBuffer to, long offset, int tag) {
        run(operation().writeNotify(from, to, offset, tag));
    }

    /// Reads from the peer's memory.
    public void read(BufferSlice into, RemoteBuffer from, long offset) {
        run(operation().read(into, from, offset));
    }

    /// Compares and swaps in the peer's memory.
    ///
    /// @return the old value
    public long compareAndSwap(RemoteBuffer in, long offset, long expected, long value) {
        return run(operation().compareAndSwap(in, offset, expected, value));
    }

    /// Adds in the peer's memory.
    ///
    /// @return the old value
    public long fetchAndAdd(RemoteBuffer in, long offset, long addend) {
        return run(operation().fetchAndAdd(in, offset, addend));
    }

    /// Waits for the next message or notice, when there is no handler for them. The caller closes it.
    public Message receive() {
        CompletableFuture<Message> next = channel.adapter().receives().receive();
        Signal signal = new Signal(channel.adapter().group());
        var _ = next.whenComplete((message, failure) -> signal.set());
        try {
            if (!signal.await(System.nanoTime() + patience.toNanos()) && next.cancel(false)) {
                throw new DeadlineException(
                        "no message arrived on " + channel + " within " + patience.toMillis() + " ms", null);
            }
        } catch (CommInterruptedException | IllegalStateException e) {
            if (next.cancel(false)) {
                throw e;
            }
        }
        return result(next);
    }

    private Operation operation() {
        channel.gate().checkOpen();
        return new Operation(channel.rules());
    }

    private long run(Operation operation) {
        Signal.refuseInHandler(channel.adapter().group());
        long deadline = System.nanoTime() + patience.toNanos();
        BlockingOperation waiting = new BlockingOperation(channel, operation, deadline);
        channel.gate().submit(waiting);
        return waiting.await();
    }

    private static Message result(CompletableFuture<Message> ended) {
        try {
            return ended.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof ClosedException why ? why.again() : e;
        }
    }
}
