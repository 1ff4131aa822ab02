package io.rdmacomm.soft.iwarp;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// The checksum of a frame, computed piece by piece: CRC-32C over everything from the length field to the padding
/// (RFC 5044 4.4). Reusable, one for each direction of a connection. Buffers must be direct: for others the JDK
/// allocates.
public final class FpduChecksum {
    private static final int COPY_BYTES = 8 * 1024;

    private final CRC32C crc = new CRC32C();
    private @Nullable ByteBuffer copies;

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

    /// Adds bytes as [#update(ByteBuffer, int, int)] does, from memory where an access may fault. The JDK does
    /// not guard the code of checksums, where a fault ends the process, but it guards copies.
    public void updateByCopies(ByteBuffer buffer, int at, int length) {
        ByteBuffer copy = copies;
        if (copy == null) {
            copy = ByteBuffer.allocateDirect(COPY_BYTES);
            copies = copy;
        }
        for (int done = 0; done < length; done += COPY_BYTES) {
            int piece = Math.min(COPY_BYTES, length - done);
            copy.put(0, buffer, at + done, piece);
            update(copy, 0, piece);
        }
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
