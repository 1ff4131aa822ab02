package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.CommandFailure;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// A message of `rdmacomm ping`. On the wire, big-endian:
///
/// ```
/// u32 magic "RCP1" | u32 direction (1 ping, 2 pong, 3 damaged ping) | u64 seed | u64 number | bytes ...
/// ```
///
/// Every byte is a function of the seed, the direction and the number.
final class PingMessage {
    static final int HEADER_BYTES = 24;
    static final int PING = 1;
    static final int PONG = 2;
    static final int DAMAGED = 3;

    private static final int MAGIC = 0x52435031;
    private static final long GOLDEN = 0x9e37_79b9_7f4a_7c15L;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private PingMessage() {}

    /// Fills `into` with message `number`.
    static void write(MemorySegment into, int direction, long seed, long number) {
        into.set(INT, 0, MAGIC);
        into.set(INT, 4, direction);
        into.set(LONG, 8, seed);
        into.set(LONG, 16, number);
        for (long at = HEADER_BYTES; at < into.byteSize(); at++) {
            into.set(ValueLayout.JAVA_BYTE, at, expected(direction, seed, number, at));
        }
    }

    /// Checks that `message` is a ping or an answer.
    ///
    /// @throws CommandFailure if it is not
    static void check(MemorySegment message) {
        if (message.byteSize() < HEADER_BYTES || message.get(INT, 0) != MAGIC) {
            throw new CommandFailure("the peer speaks a different protocol: start `rdmacomm ping --server` there");
        }
    }

    static int direction(MemorySegment message) {
        return message.get(INT, 4);
    }

    static long seed(MemorySegment message) {
        return message.get(LONG, 8);
    }

    static long number(MemorySegment message) {
        return message.get(LONG, 16);
    }

    /// The offset of the first wrong byte of `message`; -1 if there is none.
    static long mismatch(MemorySegment message) {
        for (long at = HEADER_BYTES; at < message.byteSize(); at++) {
            if (message.get(ValueLayout.JAVA_BYTE, at)
                    != expected(direction(message), seed(message), number(message), at)) {
                return at;
            }
        }
        return -1;
    }

    private static byte expected(int direction, long seed, long number, long at) {
        long mixed = (seed + direction + (number << 20) + at) * GOLDEN;
        return (byte) (mixed >>> 40);
    }
}
