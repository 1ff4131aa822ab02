package io.rdmacomm.comm.data;

import io.rdmacomm.verbs.PlainRequest;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SendOpcode;

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
    /// Those whose memory is what was set.
    private static final int PLAIN_KINDS = CREDIT_KINDS | 1 << WRITE | 1 << READ | 1 << CREDIT_UPDATE;

    private static final int[] OPCODES = {
        SendOpcode.SEND.code(),
        SendOpcode.SEND_WITH_IMMEDIATE.code(),
        SendOpcode.WRITE.code(),
        SendOpcode.WRITE_WITH_IMMEDIATE.code(),
        SendOpcode.READ.code(),
        SendOpcode.COMPARE_AND_SWAP.code(),
        SendOpcode.FETCH_AND_ADD.code(),
        SendOpcode.WRITE.code(),
        SendOpcode.READ.code()
    };
    private static final int INLINE_KINDS = CREDIT_KINDS | 1 << WRITE | 1 << CREDIT_UPDATE;

    /// The most elements of local memory of an operation: with 64 bytes inline, a request in the queue of an mlx5
    /// adapter gets no longer by them.
    public static final int MOST_ELEMENTS = 4;

    private static final long[] NONE = {};

    private final int inlineBytes;
    private final boolean fenced;
    private final PlainRequest request = new PlainRequest();
    private int kind;
    // Address, length and key of each element, if there are several.
    private long[] elements = NONE;

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
        request.opcode = OPCODES[newKind];
        request.length = bytes;
        request.elements = bytes > 0 ? 1 : 0;
        return memory(address, key);
    }

    /// Adds local memory to a READ, which fills one after the other. There is room for [#MOST_ELEMENTS].
    public Operation add(long address, long bytes, int key) {
        if (bytes == 0) {
            return this;
        }
        if (elements.length == 0) {
            elements = new long[3 * MOST_ELEMENTS];
        }
        int at = 3 * request.elements;
        elements[at] = address;
        elements[at + 1] = bytes;
        elements[at + 2] = key;
        request.elements++;
        request.length += bytes;
        return request.elements == 1 ? memory(address, key) : this;
    }

    /// Sets the local memory, with the length as it is.
    public Operation memory(long address, int key) {
        request.address = address;
        request.localKey = key;
        return this;
    }

    /// Sets the remote memory.
    public Operation remote(long address, int key) {
        request.remoteAddress = address;
        request.remoteKey = key;
        return this;
    }

    /// Sets the tag that the peer gets.
    public Operation tag(int value) {
        request.immediate = Integer.reverseBytes(value);
        return this;
    }

    /// Sets the operands of an atomic operation.
    ///
    /// @param first the expected value, or the addend
    /// @param second the new value
    public Operation operands(long first, long second) {
        request.operand = first;
        request.swap = second;
        return this;
    }

    /// Its kind.
    public int kind() {
        return kind;
    }

    /// The number of bytes it transfers.
    public long length() {
        return request.length;
    }

    /// Whether it uses up a receive of the peer.
    public boolean needsCredit() {
        return (1 << kind & CREDIT_KINDS) != 0;
    }

    /// The operation as a request, which [QueuePair#executeAtOnce] takes if [#isPlain()].
    PlainRequest request() {
        return request;
    }

    /// Whether its memory is all that it needs.
    boolean isPlain() {
        return (1 << kind & PLAIN_KINDS) != 0;
    }

    /// Adds it to `batch` as its next request.
    ///
    /// @param resultAddress where atomic operations put the old value, and arrival reads the bytes read
    public void appendTo(SendBatch batch, long workId, long resultAddress, int resultKey) {
        PlainRequest from = request;
        int tag = Integer.reverseBytes(from.immediate);
        switch (kind) {
            case SEND -> batch.send(workId);
            case SEND_TAGGED -> batch.sendWithImmediate(workId, tag);
            case WRITE_NOTIFY -> batch.writeWithImmediate(workId, from.remoteAddress, from.remoteKey, tag);
            case READ, ARRIVAL_READ -> batch.read(workId, from.remoteAddress, from.remoteKey);
            case COMPARE_AND_SWAP ->
                batch.compareAndSwap(workId, from.remoteAddress, from.remoteKey, from.operand, from.swap);
            case FETCH_AND_ADD -> batch.fetchAndAdd(workId, from.remoteAddress, from.remoteKey, from.operand);
            default -> batch.write(workId, from.remoteAddress, from.remoteKey);
        }
        long length = from.length;
        if (isAtomic(kind) || (kind == ARRIVAL_READ && length > 0)) {
            batch.with(resultAddress, length, resultKey);
        } else if (from.elements > 1) {
            for (int i = 0; i < 3 * from.elements; i += 3) {
                batch.with(elements[i], elements[i + 1], (int) elements[i + 2]);
            }
        } else if (length > 0) {
            batch.with(from.address, length, from.localKey);
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
