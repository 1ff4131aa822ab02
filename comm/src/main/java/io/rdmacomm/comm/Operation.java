package io.rdmacomm.comm;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.SendBatch;

/// One operation with its arguments, checked and ready to become a work request. Reusable.
final class Operation {
    static final int SEND = 0;
    static final int SEND_TAGGED = 1;
    static final int WRITE = 2;
    static final int WRITE_NOTIFY = 3;
    static final int READ = 4;
    static final int COMPARE_AND_SWAP = 5;
    static final int FETCH_AND_ADD = 6;
    /// The library's own: tells the peer how many receives there are.
    static final int CREDIT = 7;
    /// The library's own: a READ of nothing, which ends when all before it has arrived.
    static final int QUESTION = 8;

    private static final String[] NAMES = {
        "send",
        "send with tag",
        "write",
        "write with notice",
        "read",
        "compare-and-swap",
        "fetch-and-add",
        "credit",
        "question"
    };
    private static final int CREDIT_KINDS = 1 << SEND | 1 << SEND_TAGGED | 1 << WRITE_NOTIFY;
    private static final int ATOMIC_KINDS = 1 << COMPARE_AND_SWAP | 1 << FETCH_AND_ADD;
    private static final int INLINE_KINDS = CREDIT_KINDS | 1 << WRITE | 1 << CREDIT;

    private final ChannelRules rules;
    private int kind;
    private long localAddress;
    private long length;
    private int localKey;
    private long remoteAddress;
    private int remoteKey;
    private int tag;
    private long operand;
    private long swap;

    Operation(ChannelRules rules) {
        this.rules = rules;
    }

    static String name(int kind) {
        return NAMES[kind];
    }

    static boolean isAtomic(int kind) {
        return (1 << kind & ATOMIC_KINDS) != 0;
    }

    Operation send(BufferSlice message) {
        return local(SEND, message, rules.maxMessage());
    }

    Operation send(BufferSlice message, int newTag) {
        tag = newTag;
        return local(SEND_TAGGED, message, rules.maxMessage());
    }

    Operation write(BufferSlice from, RemoteBuffer to, long offset) {
        return local(WRITE, from, rules.maxTransfer()).remote(to, offset, AccessFlag.REMOTE_WRITE);
    }

    Operation writeNotify(BufferSlice from, RemoteBuffer to, long offset, int newTag) {
        tag = newTag;
        return local(WRITE_NOTIFY, from, rules.maxTransfer()).remote(to, offset, AccessFlag.REMOTE_WRITE);
    }

    Operation read(BufferSlice into, RemoteBuffer from, long offset) {
        if (!into.buffer().isWritable()) {
            throw new IllegalArgumentException("a read into " + into + " needs LOCAL_WRITE on that buffer");
        }
        return local(READ, into, rules.maxTransfer()).remote(from, offset, AccessFlag.REMOTE_READ);
    }

    Operation compareAndSwap(RemoteBuffer in, long offset, long expected, long value) {
        operand = expected;
        swap = value;
        return atomic(COMPARE_AND_SWAP, in, offset);
    }

    Operation fetchAndAdd(RemoteBuffer in, long offset, long addend) {
        operand = addend;
        return atomic(FETCH_AND_ADD, in, offset);
    }

    /// The 8 bytes at `from` are written to the peer's credit cell.
    Operation credit(long from, int key, long cell, int cellKey) {
        kind = CREDIT;
        localAddress = from;
        length = Long.BYTES;
        localKey = key;
        remoteAddress = cell;
        remoteKey = cellKey;
        return this;
    }

    /// Asks whether all before it has arrived: READs `bytes` bytes of the peer's credit cell, at which nobody
    /// looks.
    Operation question(long cell, int cellKey, int bytes) {
        kind = QUESTION;
        length = bytes;
        remoteAddress = cell;
        remoteKey = cellKey;
        return this;
    }

    private Operation local(int newKind, BufferSlice slice, long most) {
        RdmaBuffer buffer = slice.buffer();
        if (!buffer.domain().equals(rules.domain())) {
            throw new IllegalArgumentException(buffer + " is of another session than this channel");
        }
        if (!buffer.isOpen()) {
            throw new IllegalStateException(buffer + " is closed");
        }
        if (slice.length() > most) {
            throw new IllegalArgumentException(NAMES[newKind] + " of " + slice.length()
                    + " bytes is longer than the peer or the device allows, which is " + most);
        }
        kind = newKind;
        localAddress = slice.address();
        length = slice.length();
        localKey = buffer.localKey();
        return this;
    }

    private Operation remote(RemoteBuffer buffer, long offset, AccessFlag right) {
        remoteAddress = buffer.check(offset, length, right, rules.endPoint());
        remoteKey = buffer.key();
        return this;
    }

    private Operation atomic(int newKind, RemoteBuffer in, long offset) {
        kind = newKind;
        length = Long.BYTES;
        remote(in, offset, AccessFlag.REMOTE_ATOMIC);
        if ((remoteAddress & 7) != 0) {
            throw new IllegalArgumentException("an atomic operation at offset " + offset + " of " + in
                    + " is not at an address that is a multiple of 8");
        }
        return this;
    }

    int kind() {
        return kind;
    }

    long length() {
        return length;
    }

    /// Whether it uses up a receive of the peer.
    boolean needsCredit() {
        return (1 << kind & CREDIT_KINDS) != 0;
    }

    /// Makes it the next request of `batch`.
    ///
    /// @param resultAddress where an atomic operation puts the old value, and a question what it has read
    void appendTo(SendBatch batch, long workId, long resultAddress, int resultKey) {
        switch (kind) {
            case SEND -> batch.send(workId);
            case SEND_TAGGED -> batch.sendWithImmediate(workId, tag);
            case WRITE_NOTIFY -> batch.writeWithImmediate(workId, remoteAddress, remoteKey, tag);
            case READ, QUESTION -> batch.read(workId, remoteAddress, remoteKey);
            case COMPARE_AND_SWAP -> batch.compareAndSwap(workId, remoteAddress, remoteKey, operand, swap);
            case FETCH_AND_ADD -> batch.fetchAndAdd(workId, remoteAddress, remoteKey, operand);
            default -> batch.write(workId, remoteAddress, remoteKey);
        }
        if (isAtomic(kind) || (kind == QUESTION && length > 0)) {
            batch.with(resultAddress, length, resultKey);
        } else if (length > 0) {
            batch.with(localAddress, length, localKey);
        }
        if (length <= rules.inlineBytes() && (1 << kind & INLINE_KINDS) != 0) {
            batch.inline();
        }
        if (rules.fenced() && kind != READ && kind != QUESTION) {
            // A completion tells that everything before it has ended, READs included.
            batch.fenced();
        }
    }
}
