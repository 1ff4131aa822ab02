package io.rdmacomm.comm;

/// The operations of an [RdmaChannel] as blocking calls, for platform and virtual threads. Usable from any
/// thread, but not in a handler, where it would wait for itself: there it throws [IllegalStateException].
///
/// All methods throw [DeadlineException] when the operation has not ended in time (if it had begun, its
/// memory stays in use until the channel is closed), [OperationException] when it failed, [ClosedException]
/// when the channel is closed or has failed, [CommInterruptedException] when the thread was interrupted,
/// and what the `try` methods of [RdmaChannel] throw for bad arguments.
@SuppressWarnings("DoNotCallSuggester")
public final class BlockingChannel {
    BlockingChannel() {}

    /// Sends a message: returns when the peer's device has it.
    public void send(BufferSlice message) {
        throw Checks.unfinished();
    }

    /// Sends a message with a tag.
    public void send(BufferSlice message, int tag) {
        throw Checks.unfinished();
    }

    /// Writes into the peer's memory.
    public void write(BufferSlice from, RemoteBuffer to, long offset) {
        throw Checks.unfinished();
    }

    /// Writes into the peer's memory and gives it a notice.
    public void writeNotify(BufferSlice from, RemoteBuffer to, long offset, int tag) {
        throw Checks.unfinished();
    }

    /// Reads from the peer's memory.
    public void read(BufferSlice into, RemoteBuffer from, long offset) {
        throw Checks.unfinished();
    }

    /// Compares and swaps in the peer's memory.
    ///
    /// @return the old value
    public long compareAndSwap(RemoteBuffer in, long offset, long expected, long value) {
        throw Checks.unfinished();
    }

    /// Adds in the peer's memory.
    ///
    /// @return the old value
    public long fetchAndAdd(RemoteBuffer in, long offset, long addend) {
        throw Checks.unfinished();
    }

    /// Waits for the next message or notice, when there is no handler for them. The caller closes it.
    public Message receive() {
        throw Checks.unfinished();
    }
}
