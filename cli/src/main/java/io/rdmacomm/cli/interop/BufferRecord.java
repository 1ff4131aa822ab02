package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.terminal.CommandFailure;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// What both sides of the string copy tell each other: a buffer, 16 bytes. The C example
/// (github.com/animeshtrivedi/rdma-example) sends its packed struct as it is in memory, so this is little-endian,
/// as are x86-64 and aarch64.
///
/// ```
///  0               8       12      16
/// +---------------+-------+-------+
/// | address       | length| stag  |
/// +---------------+-------+-------+
/// ```
///
/// @param address where the buffer is
/// @param length its length in bytes
/// @param tag its remote key (steering tag); the C example sends its local key, which is the same number on siw
/// and rxe
record BufferRecord(long address, int length, int tag) {
    static final int BYTES = 16;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    MemorySegment encode() {
        MemorySegment bytes = MemorySegment.ofArray(new byte[BYTES]);
        bytes.set(LONG, 0, address);
        bytes.set(INT, 8, length);
        bytes.set(INT, 12, tag);
        return bytes;
    }

    /// Reads what [#encode()] or the C example wrote.
    ///
    /// @throws CommandFailure if it has another length
    static BufferRecord decode(MemorySegment message) {
        if (message.byteSize() != BYTES) {
            throw new CommandFailure("the peer sent a message of " + message.byteSize() + " bytes where the description"
                    + " of a buffer has " + BYTES + ": it speaks another protocol than copy-string");
        }
        return new BufferRecord(message.get(LONG, 0), message.get(INT, 8), message.get(INT, 12));
    }
}
