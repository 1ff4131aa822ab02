package io.rdmacomm.comm;

/// Operations that are started together: one doorbell, and one completion for all. Make it once and fill it
/// again and again; nothing is allocated. Not safe for use by several threads.
///
/// ```java
/// ChannelBatch batch = channel.batch(32);
/// while (batch.write(slice, remote, offset, handler, context)) { ... }
/// while (!batch.tryPost()) {
///     channel.poll();
/// }
/// ```
///
/// The methods that add an operation return false when the batch is full, and throw as those of
/// [RdmaChannel].
@SuppressWarnings("DoNotCallSuggester")
public final class ChannelBatch {
    ChannelBatch() {}

    /// Adds a message.
    public boolean send(BufferSlice message, CompletionHandler handler, long context) {
        throw Checks.unfinished();
    }

    /// Adds a message with a tag.
    public boolean send(BufferSlice message, int tag, CompletionHandler handler, long context) {
        throw Checks.unfinished();
    }

    /// Adds a write into the peer's memory.
    public boolean write(BufferSlice from, RemoteBuffer to, long offset, CompletionHandler handler, long context) {
        throw Checks.unfinished();
    }

    /// Adds a write into the peer's memory that the peer is given a notice of.
    public boolean writeNotify(
            BufferSlice from, RemoteBuffer to, long offset, int tag, CompletionHandler handler, long context) {
        throw Checks.unfinished();
    }

    /// Adds a read from the peer's memory.
    public boolean read(BufferSlice into, RemoteBuffer from, long offset, CompletionHandler handler, long context) {
        throw Checks.unfinished();
    }

    /// How many operations it has room for.
    public int capacity() {
        throw Checks.unfinished();
    }

    /// How many operations are in it.
    public int size() {
        throw Checks.unfinished();
    }

    /// Forgets the operations in it.
    public void clear() {
        throw Checks.unfinished();
    }

    /// Starts all operations in it, in order, and empties it; or none, when there is no room for all of
    /// them. Never blocks. Each handler is told of its operation when the last one has ended, or one has
    /// failed.
    ///
    /// @return whether they were taken
    /// @throws ClosedException if the channel is closed or has failed
    public boolean tryPost() {
        throw Checks.unfinished();
    }
}
