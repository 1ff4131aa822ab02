package io.rdmacomm.mesh.collective;

import static java.nio.ByteOrder.BIG_ENDIAN;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// The header of everything that collectives send on a channel: 64 bytes in network order. A message or an
/// abort has its content behind it.
///
/// ```
///  0   1      2     3     4               8                              16
/// +----+------+-----+-----+---------------+------------------------------+
/// |type|stream|place|order| bytes         | sequence of the call         |
/// +----+------+-----+-----+---------------+------------------------------+
/// 16                      24                              32
/// +-----------------------+-------------------------------+
/// | count of the call     | code of the call              |
/// +-----------------------+-------------------------------+
/// 32                      40                      48      56      60     64
/// +-----------------------+-----------------------+-------+-------+------+
/// | number                | length                | credit| key   | slots|
/// +-----------------------+-----------------------+-------+-------+------+
/// ```
///
/// | type | says | number | length |
/// |---|---|---|---|
/// | SET_UP | where the peer finds its slots; options in bytes, slots, credit | address | of all slots |
/// | PIECE | a piece of data has arrived in its place | of the piece in its stream | |
/// | READY | the peer may write into the result of this call | address | of the result |
/// | CREDIT | nothing but the credit | | |
/// | STATE | this rank waits in this call | | |
/// | ABORT | the collectives have failed: the reason is place, its text follows | | |
///
/// A SET_UP has the length of a slot in bytes, and the longest piece that travels in a message in credit.
/// In all others, the credit is the number of pieces of this stream that the sender has taken so far. The
/// call is the one that its sender is in, so that each notice shows whether both ranks agree.
final class Notice {
    /// The length of the header.
    static final int BYTES = 64;

    static final byte SET_UP = 1;
    static final byte PIECE = 2;
    static final byte READY = 3;
    static final byte CREDIT = 4;
    static final byte STATE = 5;
    static final byte ABORT = 6;

    /// The piece follows in the same message.
    static final byte IN_MESSAGE = 1;
    /// The piece is in its slot.
    static final byte IN_SLOT = 2;
    /// The piece is in the buffer of the call.
    static final byte IN_TARGET = 3;

    /// The byte order of numbers on this machine.
    static final byte OWN_ORDER = (byte) (ByteOrder.nativeOrder().equals(BIG_ENDIAN) ? 2 : 1);

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(BIG_ENDIAN);

    private Notice() {}

    static void call(MemorySegment at, long offset, byte type, int stream, long sequence, long count, long code) {
        at.set(ValueLayout.JAVA_BYTE, offset, type);
        at.set(ValueLayout.JAVA_BYTE, offset + 1, (byte) stream);
        at.set(ValueLayout.JAVA_BYTE, offset + 2, (byte) 0);
        at.set(ValueLayout.JAVA_BYTE, offset + 3, OWN_ORDER);
        at.set(INT, offset + 4, 0);
        at.set(LONG, offset + 8, sequence);
        at.set(LONG, offset + 16, count);
        at.set(LONG, offset + 24, code);
        at.set(LONG, offset + 32, 0);
        at.set(LONG, offset + 40, 0);
        at.set(LONG, offset + 48, 0);
        at.set(INT, offset + 56, 0);
        at.set(INT, offset + 60, 0);
    }

    static void place(MemorySegment at, long offset, byte place, int bytes) {
        at.set(ValueLayout.JAVA_BYTE, offset + 2, place);
        at.set(INT, offset + 4, bytes);
    }

    static void numbers(MemorySegment at, long offset, long number, long length) {
        at.set(LONG, offset + 32, number);
        at.set(LONG, offset + 40, length);
    }

    static void credit(MemorySegment at, long offset, long value) {
        at.set(LONG, offset + 48, value);
    }

    static void key(MemorySegment at, long offset, int key, int slots) {
        at.set(INT, offset + 56, key);
        at.set(INT, offset + 60, slots);
    }

    static byte type(MemorySegment at) {
        return at.get(ValueLayout.JAVA_BYTE, 0);
    }

    static int stream(MemorySegment at) {
        return at.get(ValueLayout.JAVA_BYTE, 1);
    }

    static byte place(MemorySegment at) {
        return at.get(ValueLayout.JAVA_BYTE, 2);
    }

    static byte order(MemorySegment at) {
        return at.get(ValueLayout.JAVA_BYTE, 3);
    }

    static int bytes(MemorySegment at) {
        return at.get(INT, 4);
    }

    static long sequence(MemorySegment at) {
        return at.get(LONG, 8);
    }

    static long count(MemorySegment at) {
        return at.get(LONG, 16);
    }

    static long code(MemorySegment at) {
        return at.get(LONG, 24);
    }

    static long number(MemorySegment at) {
        return at.get(LONG, 32);
    }

    static long length(MemorySegment at) {
        return at.get(LONG, 40);
    }

    static long credit(MemorySegment at) {
        return at.get(LONG, 48);
    }

    static int key(MemorySegment at) {
        return at.get(INT, 56);
    }

    static int slots(MemorySegment at) {
        return at.get(INT, 60);
    }
}
