package io.rdmacomm.comm;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// One connection of an end point: messages, one-sided operations on the peer's memory, atomics. Usable
/// from any thread; operations of one thread start in the order of its calls.
///
/// Every operation comes in three forms: here as a non-blocking `try` method with a handler, which
/// allocates nothing; as a future in [#async()]; as a blocking call in [#blocking()].
///
/// A `try` method returns whether the operation was taken. False is back-pressure: the send window is full,
/// the peer has no receive left, or operations of the other forms wait their turn. Poll, and try again. An
/// operation that was taken ends exactly once, and its handler is told; those of one channel end in order.
/// The memory of an operation belongs to it until it has ended.
///
/// All `try` methods throw [ClosedException] if the channel is closed or has failed,
/// [IndexOutOfBoundsException] if a range is not within the remote buffer, and [IllegalArgumentException]
/// if a buffer is of another session or end point, or does not have the right that the operation needs.
@SuppressWarnings("DoNotCallSuggester")
public final class RdmaChannel {
    RdmaChannel() {}

    /// What it is called in messages.
    public String name() {
        throw Checks.unfinished();
    }

    /// Which data channel of its end point it is, counted from 0.
    public int index() {
        throw Checks.unfinished();
    }

    /// How it was made.
    public ChannelOptions options() {
        throw Checks.unfinished();
    }

    /// The longest message that the peer can receive, in bytes.
    public int maxMessageBytes() {
        throw Checks.unfinished();
    }

    /// Sends a message.
    ///
    /// @param message at most [#maxMessageBytes()]
    /// @param handler told how it ended
    /// @param context given to the handler
    /// @return whether it was taken
    public boolean trySend(BufferSlice message, CompletionHandler handler, long context) {
        throw Checks.unfinished();
    }

    /// Sends a message with a 32-bit tag; see [#trySend(BufferSlice, CompletionHandler, long)].
    public boolean trySend(BufferSlice message, int tag, CompletionHandler handler, long context) {
        throw Checks.unfinished();
    }

    /// Writes into the peer's memory.
    ///
    /// @param from what to write
    /// @param to where to write it
    /// @param offset where in `to` to begin
    /// @param handler told how it ended
    /// @param context given to the handler
    /// @return whether it was taken
    public boolean tryWrite(BufferSlice from, RemoteBuffer to, long offset, CompletionHandler handler, long context) {
        throw Checks.unfinished();
    }

    /// Writes into the peer's memory and then gives the peer a notice with a tag, which its
    /// [MessageHandler] is told of and which counts as a message; see [#tryWrite].
    public boolean tryWriteNotify(
            BufferSlice from, RemoteBuffer to, long offset, int tag, CompletionHandler handler, long context) {
        throw Checks.unfinished();
    }

    /// Reads from the peer's memory.
    ///
    /// @param into where to put it
    /// @param from what to read
    /// @param offset where in `from` to begin
    /// @param handler told how it ended
    /// @param context given to the handler
    /// @return whether it was taken
    public boolean tryRead(BufferSlice into, RemoteBuffer from, long offset, CompletionHandler handler, long context) {
        throw Checks.unfinished();
    }

    /// Replaces 8 bytes of the peer's memory with `value` if they are `expected`, atomically. The handler's
    /// result is the old value.
    ///
    /// @param in the peer's memory
    /// @param offset where in it, so that the address is a multiple of 8
    /// @return whether it was taken
    public boolean tryCompareAndSwap(
            RemoteBuffer in, long offset, long expected, long value, CompletionHandler handler, long context) {
        throw Checks.unfinished();
    }

    /// Adds to 8 bytes of the peer's memory, atomically. The handler's result is the old value.
    ///
    /// @param in the peer's memory
    /// @param offset where in it, so that the address is a multiple of 8
    /// @return whether it was taken
    public boolean tryFetchAndAdd(RemoteBuffer in, long offset, long addend, CompletionHandler handler, long context) {
        throw Checks.unfinished();
    }

    /// Room for up to `capacity` operations that are started together, with one doorbell and one
    /// completion.
    ///
    /// @param capacity 1 to the send window
    public ChannelBatch batch(int capacity) {
        throw Checks.unfinished();
    }

    /// Gives all messages and notices to a handler, those first that have arrived already. With null they
    /// are kept for [#tryReceive()] and its other forms; that is so in the beginning.
    public void onMessage(@Nullable MessageHandler handler) {
        throw Checks.unfinished();
    }

    /// Takes the oldest message or notice that has arrived, when there is no handler for them. Never
    /// blocks, never allocates. Does not poll. The caller closes the message.
    ///
    /// @return the message, or null if there is none
    /// @throws ClosedException if there is none and the channel is closed or has failed
    public @Nullable Message tryReceive() {
        throw Checks.unfinished();
    }

    /// The same operations as futures that wait for room no longer than the operation deadline.
    public AsyncChannel async() {
        throw Checks.unfinished();
    }

    /// The same operations as futures that wait for room no longer than `timeout`.
    public AsyncChannel async(Duration timeout) {
        throw Checks.unfinished();
    }

    /// The same operations as calls that block no longer than the operation deadline.
    public BlockingChannel blocking() {
        throw Checks.unfinished();
    }

    /// The same operations as calls that block no longer than `timeout`.
    public BlockingChannel blocking(Duration timeout) {
        throw Checks.unfinished();
    }

    /// Makes progress and runs handlers, those of the channels that share its completion queue included,
    /// when the thread mode is CALLER; else library threads do, and this returns 0. Never blocks, never
    /// allocates. Called in a handler, or while another thread polls, it returns 0.
    ///
    /// @return how many completions there were
    public int poll() {
        throw Checks.unfinished();
    }

    /// Operations that were taken and have not ended.
    public int inFlight() {
        throw Checks.unfinished();
    }

    /// Whether operations are taken: the end point is neither closed nor closing nor failed, and the peer
    /// is not done.
    public boolean isOpen() {
        throw Checks.unfinished();
    }

    /// Its counters now.
    public ChannelStatistics statistics() {
        throw Checks.unfinished();
    }
}
