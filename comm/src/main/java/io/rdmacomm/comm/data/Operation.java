package io.rdmacomm.comm.data;

import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.SendBatch;

/// One operation as addresses and keys, ready to become a work request. Reusable.
public final class Operation {
    /// A message.
    public static final int SEND = 0;
    /// A message with a tag.
    public static final int SEND_TAGGED = 1;
    /// A WRITE.
    public static final int WRITE = 2;
    /// A WRITE that also sends the peer a notice with a tag.
    public static final int WRITE_NOTIFY = 3;
    /// A READ.
    public static final int READ = 4;
    /// An atomic compare-and-swap of 8 bytes.
    public static final int COMPARE_AND_SWAP = 5;
    /// An atomic fetch-and-add of 8 bytes.
    public static final int FETCH_AND_ADD = 6;
    /// The library's internal WRITE of the number of receives to the peer.
    static final int CREDIT_UPDATE = 7;
    /// The library's internal READ, which completes when everything before it has arrived.
    static final int ARRIVAL_READ = 8;

    private static final String[] NAMES = {
        "send",
        "send with tag",
        "write",
        "write with notice",
        "read",
        "compare-and-swap",
        "fetch-and-add",
        "credit update",
        "arrival read"
    };
    private static final int CREDIT_KINDS = 1 << SEND | 1 << SEND_TAGGED | 1 << WRITE_NOTIFY;
    private static final int ATOMIC_KINDS = 1 << COMPARE_AND_SWAP | 1 << FETCH_AND_ADD;
    private static final int INLINE_KINDS = CREDIT_KINDS | 1 << WRITE | 1 << CREDIT_UPDATE;

    private final int inlineBytes;
    private final boolean fenced;
    private int kind;
    private long localAddress;
    private long length;
    private int localKey;
    private long remoteAddress;
    private int remoteKey;
    private int tag;
    private long operand;
    private long swap;

    /// @param inlineBytes the longest payload that is copied when it is posted
    /// @param fenced whether all kinds but READ wait for preceding READs
    Operation(int inlineBytes, boolean fenced) {
        this.inlineBytes = inlineBytes;
        this.fenced = fenced;
    }

    /// The name of a kind in messages.
    public static String name(int kind) {
        return NAMES[kind];
    }

    static boolean isAtomic(int kind) {
        return (1 << kind & ATOMIC_KINDS) != 0;
    }

    /// Sets the kind and the local memory.
    public Operation local(int newKind, long address, long bytes, int key) {
        kind = newKind;
        localAddress = address;
        length = bytes;
        localKey = key;
        return this;
    }

    /// Sets the local memory, with the length as it is.
    public Operation memory(long address, int key) {
        localAddress = address;
        localKey = key;
        return this;
    }

    /// Sets the remote memory.
    public Operation remote(long address, int key) {
        remoteAddress = address;
        remoteKey = key;
        return this;
    }

    /// Sets the tag that the peer gets.
    public Operation tag(int value) {
        tag = value;
        return this;
    }

    /// Sets the operands of an atomic operation.
    ///
    /// @param first the expected value, or the addend
    /// @param second the new value
    public Operation operands(long first, long second) {
        operand = first;
        swap = second;
        return this;
    }

    /// Its kind.
    public int kind() {
        return kind;
    }

    /// The number of bytes it transfers.
    public long length() {
        return length;
    }

    /// Whether it uses up a receive of the peer.
    public boolean needsCredit() {
        return (1 << kind & CREDIT_KINDS) != 0;
    }

    /// Executes a WRITE or READ before it returns, if the device can do that now.
    ///
    /// @return false if nothing has happened
    boolean executeAtOnce(QueuePair queuePair) {
        return switch (kind) {
            case WRITE, CREDIT_UPDATE ->
                queuePair.writeAtOnce(localAddress, length, localKey, remoteAddress, remoteKey);
            case READ -> queuePair.readAtOnce(localAddress, length, localKey, remoteAddress, remoteKey);
            default -> false;
        };
    }

    /// Adds it to `batch` as its next request.
    ///
    /// @param resultAddress where atomic operations put the old value, and arrival reads the bytes read
    public void appendTo(SendBatch batch, long workId, long resultAddress, int resultKey) {
        switch (kind) {
            case SEND -> batch.send(workId);
            case SEND_TAGGED -> batch.sendWithImmediate(workId, tag);
            case WRITE_NOTIFY -> batch.writeWithImmediate(workId, remoteAddress, remoteKey, tag);
            case READ, ARRIVAL_READ -> batch.read(workId, remoteAddress, remoteKey);
            case COMPARE_AND_SWAP -> batch.compareAndSwap(workId, remoteAddress, remoteKey, operand, swap);
            case FETCH_AND_ADD -> batch.fetchAndAdd(workId, remoteAddress, remoteKey, operand);
            default -> batch.write(workId, remoteAddress, remoteKey);
        }
        if (isAtomic(kind) || (kind == ARRIVAL_READ && length > 0)) {
            batch.with(resultAddress, length, resultKey);
        } else if (length > 0) {
            batch.with(localAddress, length, localKey);
        }
        if (length <= inlineBytes && (1 << kind & INLINE_KINDS) != 0) {
            batch.inline();
        }
        if (fenced && kind != READ && kind != ARRIVAL_READ) {
            // A completion means that everything before it has ended, READs included.
            batch.fenced();
        }
    }
}
