package io.rdmacomm.soft.iwarp;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/// The checksum of a frame, computed piece by piece: CRC-32C over everything from the length field to the padding
/// (RFC 5044 4.4). Reusable, one for each direction of a connection. Buffers must be direct: for others the JDK
/// allocates.
public final class FpduChecksum {
    private final CRC32C crc = new CRC32C();

    /// A new frame begins.
    public void reset() {
        crc.reset();
    }

    /// Adds `length` bytes from `at` on. Leaves the buffer's position and limit unchanged.
    public void update(ByteBuffer buffer, int at, int length) {
        int position = buffer.position();
        int limit = buffer.limit();
        buffer.limit(at + length).position(at);
        crc.update(buffer);
        buffer.limit(limit).position(position);
    }

    /// Adds the remaining bytes of the buffer; its position moves to its limit.
    public void update(ByteBuffer buffer) {
        crc.update(buffer);
    }

    /// The value to write into a big-endian buffer: unlike all other fields, the checksum is little-endian.
    public int value() {
        return Integer.reverseBytes((int) crc.getValue());
    }
}
