package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Operation;
import io.rdmacomm.comm.data.PreparedOperations;

/// Operations that are started together, with at most one doorbell and one completion. Create it once and refill it;
/// nothing is allocated. Not thread-safe.
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
/// The methods that add an operation return false if the batch is full, and throw the same exceptions as those of
/// [RdmaChannel].
public final class ChannelBatch {
    private final SendGate gate;
    private final OperationChecks checks;
    private final PreparedOperations<CompletionHandler> operations;
    private final int mostSends;

    /// @param mostSends how many of its operations may consume a receive of the peer
    ChannelBatch(
            SendGate gate, OperationChecks checks, PreparedOperations<CompletionHandler> operations, int mostSends) {
        this.gate = gate;
        this.checks = checks;
        this.operations = operations;
        this.mostSends = mostSends;
    }

    /// Adds a message.
    public boolean send(BufferSlice message, CompletionHandler handler, long context) {
        return add(checks.send(operations.next(), message), handler, context);
    }

    /// Adds a message with a tag.
    public boolean send(BufferSlice message, int tag, CompletionHandler handler, long context) {
        return add(checks.send(operations.next(), message, tag), handler, context);
    }

    /// Adds a write into the peer's memory.
    public boolean write(BufferSlice from, RemoteBuffer to, long offset, CompletionHandler handler, long context) {
        return add(checks.write(operations.next(), from, to, offset), handler, context);
    }

    /// Adds a write into the peer's memory that notifies the peer.
    public boolean writeNotify(
            BufferSlice from, RemoteBuffer to, long offset, int tag, CompletionHandler handler, long context) {
        return add(checks.writeNotify(operations.next(), from, to, offset, tag), handler, context);
    }

    /// Adds a read from the peer's memory.
    public boolean read(BufferSlice into, RemoteBuffer from, long offset, CompletionHandler handler, long context) {
        return add(checks.read(operations.next(), into, from, offset), handler, context);
    }

    /// The number of operations that it has room for.
    public int capacity() {
        return operations.capacity();
    }

    /// The number of operations in it.
    public int size() {
        return operations.size();
    }

    /// Removes the operations in it.
    public void clear() {
        operations.clear();
    }

    /// Starts all operations in order and empties the batch, or starts none if there is no room for all of
    /// them. Never blocks. The handlers are called in order, at the latest when the last operation has ended or
    /// one has failed.
    ///
    /// @return ACCEPTED, or the reason why they were not accepted
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
        operations.add(handler, context);
        return true;
    }
}
