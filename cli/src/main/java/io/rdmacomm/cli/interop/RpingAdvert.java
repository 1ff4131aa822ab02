package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.terminal.CommandFailure;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// What every message of rping(1) consists of: a buffer of the client, 16 bytes, big-endian. In the answers of the
/// server it means nothing.
///
/// ```
///  0               8       12      16
/// +---------------+-------+-------+
/// | address       | rkey  | size  |
/// +---------------+-------+-------+
/// ```
///
/// @param address where the buffer is
/// @param key its remote key
/// @param size its length in bytes
record RpingAdvert(long address, int key, int size) {
    static final int BYTES = 16;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    MemorySegment encode() {
        MemorySegment bytes = MemorySegment.ofArray(new byte[BYTES]);
        bytes.set(LONG, 0, address);
        bytes.set(INT, 8, key);
        bytes.set(INT, 12, size);
        return bytes;
    }

    /// Reads what [#encode()] or the C program wrote.
    ///
    /// @throws CommandFailure if it has another length, as the C program refuses it
    static RpingAdvert decode(MemorySegment message) {
        checkLength(message);
        return new RpingAdvert(message.get(LONG, 0), message.get(INT, 8), message.get(INT, 12));
    }

    static void checkLength(MemorySegment message) {
        if (message.byteSize() != BYTES) {
            throw new CommandFailure("the peer sent a message of " + message.byteSize() + " bytes where rping sends "
                    + BYTES + ": it speaks another protocol");
        }
    }
}
