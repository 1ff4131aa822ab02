package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Operation;
import io.rdmacomm.comm.data.PreparedOperations;

/// Operations that are started together, with one doorbell and one completion. Create it once and fill it again
/// and again; nothing is allocated. Not thread-safe.
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
/// The methods that add an operation return false if the batch is full, and throw what those of [RdmaChannel]
/// throw.
public final class ChannelBatch {
    private final SendGate gate;
    private final OperationChecks checks;
    private final PreparedOperations<CompletionHandler> operations;
    private final Operation scratch;
    private final int mostSends;

    /// @param mostSends how many of its operations may use up a receive of the peer
    ChannelBatch(
            SendGate gate,
            OperationChecks checks,
            PreparedOperations<CompletionHandler> operations,
            Operation scratch,
            int mostSends) {
        this.gate = gate;
        this.checks = checks;
        this.operations = operations;
        this.scratch = scratch;
        this.mostSends = mostSends;
    }

    /// Adds a message.
    public boolean send(BufferSlice message, CompletionHandler handler, long context) {
        return add(checks.send(scratch, message), handler, context);
    }

    /// Adds a message with a tag.
    public boolean send(BufferSlice message, int tag, CompletionHandler handler, long context) {
        return add(checks.send(scratch, message, tag), handler, context);
    }

    /// Adds a write into the peer's memory.
    public boolean write(BufferSlice from, RemoteBuffer to, long offset, CompletionHandler handler, long context) {
        return add(checks.write(scratch, from, to, offset), handler, context);
    }

    /// Adds a write into the peer's memory, of which the peer gets a notice.
    public boolean writeNotify(
            BufferSlice from, RemoteBuffer to, long offset, int tag, CompletionHandler handler, long context) {
        return add(checks.writeNotify(scratch, from, to, offset, tag), handler, context);
    }

    /// Adds a read from the peer's memory.
    public boolean read(BufferSlice into, RemoteBuffer from, long offset, CompletionHandler handler, long context) {
        return add(checks.read(scratch, into, from, offset), handler, context);
    }

    /// How many operations it has room for.
    public int capacity() {
        return operations.capacity();
    }

    /// How many operations are in it.
    public int size() {
        return operations.size();
    }

    /// Removes the operations in it.
    public void clear() {
        operations.clear();
    }

    /// Starts all operations in it, in order, and empties it; or none, if there is no room for all of them.
    /// Never blocks. Each handler is told of its operation when the last one has ended, or one has failed.
    ///
    /// @return whether they were accepted, and if not, why
    public Admission tryPost() {
        if (operations.size() == 0) {
            return Admission.ACCEPTED;
        }
        Admission admission = gate.start(operations);
        if (admission == Admission.ACCEPTED) {
            operations.clear();
        }
        return admission;
    }

    private boolean add(Operation operation, CompletionHandler handler, long context) {
        if (operations.size() == operations.capacity()
                || (operation.needsCredit() && operations.sends() == mostSends)) {
            return false;
        }
        operations.add(operation, handler, context);
        return true;
    }
}
