package io.rdmacomm.soft.mapped;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.spi.CompletionLayout;
import java.lang.foreign.MemorySegment;

/// The fields of a completion that is about to be pushed: one reusable object for each queue pair, so that pushing
/// allocates nothing.
public final class CompletionFields {
    /// Vendor error.
    public int vendorError;
    /// Immediate data in network order, or an invalidated key.
    public int immediate;
    /// The sender's queue pair number.
    public int source;
    /// The sender's LID.
    public int sourceLid;
    /// Flags of [CompletionLayout].
    public int flags;
    /// Whether the sender asked for a solicited event.
    public boolean solicited;

    private long workId;
    private int status;
    private int opcode;
    private int bytes;
    private int number;

    /// Sets the fields that every completion has and clears the others.
    public void set(long newWorkId, int newStatus, int newOpcode, int newBytes, int newNumber) {
        workId = newWorkId;
        status = newStatus;
        opcode = newOpcode;
        bytes = newBytes;
        number = newNumber;
        vendorError = 0;
        immediate = 0;
        source = 0;
        sourceLid = 0;
        flags = 0;
        solicited = false;
    }

    /// Changes the status to a failure.
    public void fail(int newStatus) {
        status = newStatus;
    }

    int status() {
        return status;
    }

    int opcode() {
        return opcode;
    }

    int bytes() {
        return bytes;
    }

    /// Errors count as solicited (ibv_req_notify_cq(3)).
    public boolean wakesSolicited() {
        return solicited || status != 0;
    }

    /// Writes a completion.
    public void writeTo(MemorySegment memory, long at) {
        memory.set(JAVA_LONG, at + CompletionLayout.WORK_ID, workId);
        // Each store writes two fields, which halves the number of accesses.
        memory.set(JAVA_LONG, at + CompletionLayout.STATUS, both(status, opcode));
        memory.set(JAVA_LONG, at + CompletionLayout.VENDOR_ERROR, both(vendorError, bytes));
        memory.set(JAVA_LONG, at + CompletionLayout.IMMEDIATE, both(immediate, number));
        memory.set(JAVA_LONG, at + CompletionLayout.SOURCE_QUEUE_PAIR, both(source, flags));
        // Partition key index, LID and service level.
        memory.set(JAVA_LONG, at + CompletionLayout.PARTITION_KEY_INDEX, (long) sourceLid << Short.SIZE);
    }

    /// Two values of 4 bytes as they are in memory, one after the other.
    static long both(int first, int second) {
        return (long) second << Integer.SIZE | Integer.toUnsignedLong(first);
    }
}
