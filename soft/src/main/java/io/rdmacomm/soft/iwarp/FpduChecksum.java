package io.rdmacomm.soft.iwarp;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/// The checksum of a frame, taken piece by piece: CRC-32C over everything from the length field to the padding
/// (RFC 5044 4.4). Reusable, one for each direction of a connection. Buffers are direct: for others the JDK
/// allocates.
public final class FpduChecksum {
    private final CRC32C crc = new CRC32C();

    /// A new frame begins.
    public void reset() {
        crc.reset();
    }

    /// Adds `length` bytes from `at` on. Position and limit of the buffer are as before afterwards.
    public void update(ByteBuffer buffer, int at, int length) {
        int position = buffer.position();
        int limit = buffer.limit();
        buffer.limit(at + length).position(at);
        crc.update(buffer);
        buffer.limit(limit).position(position);
    }

    /// Adds what remains in the buffer; its position moves to its limit.
    public void update(ByteBuffer buffer) {
        crc.update(buffer);
    }

    /// The value to write into a big-endian buffer: the checksum goes least significant byte first, unlike everything
    /// else.
    public int value() {
        return Integer.reverseBytes((int) crc.getValue());
    }
}
