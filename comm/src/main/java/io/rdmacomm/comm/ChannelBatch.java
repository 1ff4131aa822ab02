package io.rdmacomm.comm;

import io.rdmacomm.verbs.OperationLock;
import io.rdmacomm.verbs.SendBatch;
import java.lang.foreign.Arena;

/// Operations that are started together: one doorbell, and one completion for all. Make it once and fill it
/// again and again; nothing is allocated. Not safe for use by several threads.
///
/// ```java
/// ChannelBatch batch = channel.batch(32);
/// while (batch.write(slice, remote, offset, handler, context)) { ... }
/// while (!batch.tryPost().isAccepted()) {
///     channel.checkOpen();
///     channel.poll();
/// }
/// ```
///
/// The methods that add an operation return false when the batch is full, and throw as those of
/// [RdmaChannel].
public final class ChannelBatch {
    private final RdmaChannel channel;
    private final SendBatch batch;
    private final PreparedOperations operations;
    private final Operation scratch;
    private final int mostSends;
    private int sends;

    /// @param mostSends how many of its operations may use up a receive of the peer
    ChannelBatch(RdmaChannel channel, ChannelRules rules, Arena arena, int capacity, int mostSends) {
        this.channel = channel;
        this.batch = SendBatch.create(arena, capacity, 1);
        this.operations = new PreparedOperations(capacity);
        this.scratch = new Operation(rules);
        this.mostSends = mostSends;
    }

    /// Adds a message.
    public boolean send(BufferSlice message, CompletionHandler handler, long context) {
        return add(scratch.send(message), handler, context);
    }

    /// Adds a message with a tag.
    public boolean send(BufferSlice message, int tag, CompletionHandler handler, long context) {
        return add(scratch.send(message, tag), handler, context);
    }

    /// Adds a write into the peer's memory.
    public boolean write(BufferSlice from, RemoteBuffer to, long offset, CompletionHandler handler, long context) {
        return add(scratch.write(from, to, offset), handler, context);
    }

    /// Adds a write into the peer's memory that the peer is given a notice of.
    public boolean writeNotify(
            BufferSlice from, RemoteBuffer to, long offset, int tag, CompletionHandler handler, long context) {
        return add(scratch.writeNotify(from, to, offset, tag), handler, context);
    }

    /// Adds a read from the peer's memory.
    public boolean read(BufferSlice into, RemoteBuffer from, long offset, CompletionHandler handler, long context) {
        return add(scratch.read(into, from, offset), handler, context);
    }

    /// How many operations it has room for.
    public int capacity() {
        return batch.capacity();
    }

    /// How many operations are in it.
    public int size() {
        return batch.size();
    }

    /// Forgets the operations in it.
    public void clear() {
        batch.clear();
        sends = 0;
    }

    /// Starts all operations in it, in order, and empties it; or none, when there is no room for all of
    /// them. Never blocks. Each handler is told of its operation when the last one has ended, or one has
    /// failed.
    ///
    /// @return whether they were accepted, and if not, why
    public Admission tryPost() {
        int count = batch.size();
        if (count == 0) {
            return Admission.ACCEPTED;
        }
        batch.signaled();
        OperationLock lock = channel.adapter().sendLock();
        lock.lock();
        try {
            Admission admission = channel.gate().start(batch, count, sends, operations);
            if (admission != Admission.ACCEPTED) {
                return admission;
            }
        } finally {
            lock.unlock();
        }
        clear();
        return Admission.ACCEPTED;
    }

    private boolean add(Operation operation, CompletionHandler handler, long context) {
        int index = batch.size();
        boolean uses = operation.needsCredit();
        if (index == batch.capacity() || (uses && sends == mostSends)) {
            return false;
        }
        operation.appendTo(batch, 0, 0, 0);
        operations.set(index, operation, handler, context);
        sends += uses ? 1 : 0;
        return true;
    }
}
