package io.rdmacomm.soft.roce.mad;

import io.rdmacomm.verbs.Gid;
import java.nio.ByteBuffer;

/// Fields of messages that have no type of their own in Java. Buffers are big-endian and accessed by absolute
/// index.
final class Fields {
    private static final int BYTE_BITS = 8;
    private static final int NUMBER_MASK = 0xff_ffff;

    private Fields() {}

    /// The upper 24 bits of a word.
    static int number(ByteBuffer from, int at) {
        return from.getInt(at) >>> BYTE_BITS;
    }

    /// Sets the upper 24 bits of a word, and the byte after them.
    static void number(ByteBuffer to, int at, int number, int behind) {
        to.putInt(at, (number & NUMBER_MASK) << BYTE_BITS | behind);
    }

    static int unsigned(ByteBuffer from, int at) {
        return from.get(at) & 0xff;
    }

    static Gid gid(ByteBuffer from, int at) {
        return new Gid(from.getLong(at), from.getLong(at + Long.BYTES));
    }

    static void gid(ByteBuffer to, int at, Gid gid) {
        to.putLong(at, gid.high()).putLong(at + Long.BYTES, gid.low());
    }

    static byte[] bytes(ByteBuffer from, int at, int length) {
        byte[] bytes = new byte[length];
        from.get(at, bytes);
        return bytes;
    }

    /// Rejects private data that does not fit, before anything waits for a message that cannot be sent.
    static void checkPrivateData(byte[] data, int most) {
        if (data.length > most) {
            throw new IllegalArgumentException(data.length + " bytes of private data, at most " + most + " fit");
        }
    }
}
