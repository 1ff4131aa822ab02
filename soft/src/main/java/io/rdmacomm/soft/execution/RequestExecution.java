package io.rdmacomm.soft.execution;

import io.rdmacomm.soft.mapped.CompletionFields;
import io.rdmacomm.soft.mapped.QueuePairBlock;
import io.rdmacomm.soft.memory.AccessFault;
import io.rdmacomm.soft.memory.AtomicOperation;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.LocalKeys;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.memory.NetworkOrder;
import io.rdmacomm.soft.transport.CompletionSink;
import io.rdmacomm.soft.transport.QueuePairResources;
import io.rdmacomm.soft.transport.ReceiveQueue;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.CompletionLayout;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/// Executes the requests of one queue pair's peer. Under the queue pair's send lock; allocates nothing.
public final class RequestExecution {
    private static final int SUCCESS = 0;
    private static final int REMOTE_WRITE = AccessFlag.REMOTE_WRITE.bit();
    private static final int REMOTE_READ = AccessFlag.REMOTE_READ.bit();
    private static final int REMOTE_ATOMIC = AccessFlag.REMOTE_ATOMIC.bit();

    private final QueuePairBlock block;
    private final int number;
    private final int peerNumber;
    private final CompletionSink completions;
    private final LocalKeys keys;
    private final PayloadPlacement writes;
    private final TakenReceive receive;
    private final ElementList atomicTarget = new ElementList(1);
    private final CompletionFields fields = new CompletionFields();

    /// @param peerNumber the number of the peer's queue pair
    /// @param onLimit called with the number of a shared receive queue that fell below its limit
    public RequestExecution(QueuePairResources queuePair, LocalMemory memory, int peerNumber, IntConsumer onLimit) {
        this.block = queuePair.block();
        this.number = queuePair.number();
        this.peerNumber = peerNumber;
        this.completions = queuePair.receives().completions();
        this.keys = new LocalKeys(memory, queuePair.domain(), number);
        this.writes = new PayloadPlacement(memory, 1);
        this.receive = new TakenReceive(memory, queuePair.receives().ring().taker(), onLimit);
    }

    /// The keys that the peer may use.
    public LocalKeys keys() {
        return keys;
    }

    // ---- Memory of this side ----

    /// The target for the payload of WRITEs.
    public PayloadPlacement writes() {
        return writes;
    }

    /// A WRITE begins, or a part of one that has its own check.
    ///
    /// @return null if it is allowed
    public @Nullable RequestFault beginWrite(int key, long address, long bytes) {
        writes.clear();
        if (bytes == 0) {
            return null;
        }
        if ((block.access() & REMOTE_WRITE) == 0) {
            return RequestFault.INVALID_REQUEST;
        }
        AccessFault fault = keys.resolve(key, address, bytes, REMOTE_WRITE, writes.pieces());
        if (fault != null) {
            return RequestFault.of(fault);
        }
        writes.onlyWhileValid(key);
        return null;
    }

    /// Finds the memory that a READ names. An empty READ may name any.
    ///
    /// @return null if it is allowed
    public @Nullable RequestFault beginRead(int key, long address, long bytes, ElementList into) {
        into.clear();
        if (bytes == 0) {
            return null;
        }
        if ((block.access() & REMOTE_READ) == 0) {
            return RequestFault.INVALID_REQUEST;
        }
        AccessFault fault = keys.resolve(key, address, bytes, REMOTE_READ, into);
        return fault == null ? null : RequestFault.of(fault);
    }

    /// Finds the memory that an atomic operation names.
    ///
    /// @return null if it is allowed
    public @Nullable RequestFault beginAtomic(int key, long address) {
        if ((block.access() & REMOTE_ATOMIC) == 0) {
            return RequestFault.INVALID_REQUEST;
        }
        atomicTarget.clear();
        AccessFault fault = keys.resolve(key, address, Long.BYTES, REMOTE_ATOMIC, atomicTarget);
        if (fault != null) {
            return RequestFault.of(fault);
        }
        boolean aligned = (address & Long.BYTES - 1) == 0 && AtomicOperation.isAligned(atomicTarget);
        return aligned ? null : RequestFault.INVALID_REQUEST;
    }

    /// Executes the atomic operation that [#beginAtomic] has allowed.
    ///
    /// @return the old value
    public long executeAtomic(boolean compare, long operand, long swap) {
        return AtomicOperation.execute(atomicTarget, compare, operand, swap);
    }

    // ---- Receives ----

    /// Takes a receive for a message: that of an interrupted message, or the oldest.
    ///
    /// @return false if there is none
    public boolean takeReceive() {
        if (receive.isTaken()) {
            receive.placement().seek(0);
            return true;
        }
        return receive.take();
    }

    /// Whether a message has taken a receive and is not complete.
    public boolean hasReceive() {
        return receive.isTaken();
    }

    /// The target for the payload of the present SEND.
    public PayloadPlacement received() {
        return receive.placement();
    }

    /// Checks that the present SEND fits up to `end` bytes.
    ///
    /// @return null if it does
    public @Nullable RequestFault checkReceive(long end) {
        int status = receive.check(end);
        if (status == SUCCESS) {
            return null;
        }
        return status == WorkStatus.LOCAL_LENGTH_ERROR.code()
                ? RequestFault.RECEIVE_TOO_SHORT
                : RequestFault.RECEIVE_MEMORY;
    }

    /// The present receive completes with an error: it is too short, or its memory must not be used.
    ///
    /// @return `why`
    public RequestFault failReceive(RequestFault why) {
        WorkStatus status = why == RequestFault.RECEIVE_TOO_SHORT
                ? WorkStatus.LOCAL_LENGTH_ERROR
                : WorkStatus.LOCAL_PROTECTION_ERROR;
        completeReceive(CompletionOpcode.RECEIVE, 0, status.code(), false, 0, 0);
        return why;
    }

    /// A SEND is complete.
    public void completeSend(long bytes, boolean solicited) {
        completeReceive(CompletionOpcode.RECEIVE, bytes, SUCCESS, solicited, 0, 0);
    }

    /// A SEND with immediate data is complete.
    ///
    /// @param immediate with the first byte on the wire as the highest
    public void completeSendWithImmediate(long bytes, boolean solicited, int immediate) {
        completeWithImmediate(CompletionOpcode.RECEIVE, bytes, solicited, immediate);
    }

    /// A WRITE with immediate data is complete.
    ///
    /// @param immediate with the first byte on the wire as the highest
    public void completeWriteWithImmediate(long bytes, boolean solicited, int immediate) {
        completeWithImmediate(CompletionOpcode.RECEIVE_WRITE_WITH_IMMEDIATE, bytes, solicited, immediate);
    }

    private void completeWithImmediate(CompletionOpcode opcode, long bytes, boolean solicited, int immediate) {
        int value = NetworkOrder.convert(immediate);
        completeReceive(opcode, bytes, SUCCESS, solicited, CompletionLayout.FLAG_IMMEDIATE, value);
    }

    /// A SEND that invalidates a key is complete.
    ///
    /// @return null if the key was invalidated
    public @Nullable RequestFault completeSendWithInvalidate(long bytes, boolean solicited, int key) {
        if (keys.invalidate(key)) {
            completeReceive(
                    CompletionOpcode.RECEIVE, bytes, SUCCESS, solicited, CompletionLayout.FLAG_INVALIDATED, key);
            return null;
        }
        int status = WorkStatus.REMOTE_INVALID_REQUEST.code();
        completeReceive(CompletionOpcode.RECEIVE, bytes, status, solicited, 0, 0);
        return RequestFault.KEY_NOT_INVALIDATED;
    }

    private void completeReceive(
            CompletionOpcode opcode, long bytes, int status, boolean solicited, int flags, int value) {
        fields.set(receive.workId(), status, opcode.code(), (int) bytes, number);
        fields.source = peerNumber;
        fields.solicited = solicited;
        fields.flags = flags;
        fields.immediate = value;
        receive.ended();
        completions.push(fields);
    }

    /// Gives back the receive that was taken and not completed, to be flushed.
    public void giveBackReceive(ReceiveQueue receives) {
        if (receive.isTaken()) {
            receives.giveBack(receive.workId());
            receive.ended();
        }
    }

    /// Releases all memory.
    public void release() {
        writes.release();
        receive.placement().release();
    }
}
