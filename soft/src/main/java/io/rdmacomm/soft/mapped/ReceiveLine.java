package io.rdmacomm.soft.mapped;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/// The format of a message in one of the [ReceiveLines], a cache line.
///
/// ```
/// +0 position + 1 | +8 bytes | +12 status | +13 opcode | +14 flags | +15 1 if the payload is here
/// +16 immediate | +20 source | +24 payload
/// ```
final class ReceiveLine {
    /// Size of a line.
    static final int BYTES = 64;
    /// The longest payload in it.
    static final int MOST_PAYLOAD = 40;

    static final int PAYLOAD = 24;

    private static final int LENGTH = 8;
    private static final int NUMBERS = 16;
    private static final int OPCODE_SHIFT = 8;
    private static final int FLAGS_SHIFT = 16;
    private static final int PAYLOAD_IS_HERE = 1 << 24;

    private ReceiveLine() {}

    /// Whether the line at `line` holds the message for the receive at `position`, which is complete then.
    static boolean holds(MemorySegment memory, long line, long position) {
        return SharedWords.acquire(memory, line) == position + 1;
    }

    /// Writes everything but the payload, and completes the message.
    ///
    /// @param payloadIsHere whether the payload was written to the line
    static void write(MemorySegment memory, long line, long position, CompletionFields fields, boolean payloadIsHere) {
        int how = fields.status()
                | fields.opcode() << OPCODE_SHIFT
                | fields.flags << FLAGS_SHIFT
                | (payloadIsHere ? PAYLOAD_IS_HERE : 0);
        memory.set(JAVA_LONG, line + LENGTH, CompletionFields.both(fields.bytes(), how));
        memory.set(JAVA_LONG, line + NUMBERS, CompletionFields.both(fields.immediate, fields.source));
        SharedWords.release(memory, line, position + 1);
    }

    /// Reads everything but the payload.
    ///
    /// @param workId of the receive
    /// @param number of the queue pair
    static void read(MemorySegment memory, long line, CompletionFields into, long workId, int number) {
        long length = memory.get(JAVA_LONG, line + LENGTH);
        long numbers = memory.get(JAVA_LONG, line + NUMBERS);
        int how = (int) (length >>> Integer.SIZE);
        into.set(workId, how & 0xff, how >>> OPCODE_SHIFT & 0xff, bytes(length), number);
        into.flags = how >>> FLAGS_SHIFT & 0xff;
        into.immediate = (int) numbers;
        into.source = (int) (numbers >>> Integer.SIZE);
    }

    /// The bytes of the payload, if it is here; otherwise 0.
    static int payloadBytes(MemorySegment memory, long line) {
        long length = memory.get(JAVA_LONG, line + LENGTH);
        return payloadIsHere(length) ? bytes(length) : 0;
    }

    /// A faulty peer may write any number.
    private static int bytes(long length) {
        int bytes = (int) length;
        return payloadIsHere(length) ? Math.max(0, Math.min(bytes, MOST_PAYLOAD)) : bytes;
    }

    private static boolean payloadIsHere(long length) {
        return ((int) (length >>> Integer.SIZE) & PAYLOAD_IS_HERE) != 0;
    }
}
