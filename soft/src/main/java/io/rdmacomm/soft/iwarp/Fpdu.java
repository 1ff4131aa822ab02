package io.rdmacomm.soft.iwarp;

import java.nio.ByteBuffer;

/// The frame around a DDP segment (RFC 5044 4.1): length, segment, 0 to 3 bytes of padding, checksum. If both sides
/// agreed on no checksum, it is sent as zero and ignored.
public final class Fpdu {
    /// The longest segment that the length field can express.
    public static final int MAX_SEGMENT_BYTES = 0xffff;
    /// The shortest limit that a path may set on segments (RFC 5044 4.5).
    public static final int MIN_SEGMENT_LIMIT = 128;
    /// Size of the checksum.
    public static final int CHECKSUM_BYTES = 4;
    /// The longest trailer: padding and checksum.
    public static final int MAX_TRAILER_BYTES = 7;

    private Fpdu() {}

    /// The number of bytes of padding after a segment of this length.
    public static int padding(int segmentBytes) {
        return -(FpduLayout.DDP_CONTROL + segmentBytes) & 3;
    }

    /// Padding and checksum behind a segment of this length.
    public static int trailerBytes(int segmentBytes) {
        return padding(segmentBytes) + CHECKSUM_BYTES;
    }

    /// The whole frame around a segment of this length, a multiple of 4.
    public static int bytes(int segmentBytes) {
        return FpduLayout.DDP_CONTROL + segmentBytes + trailerBytes(segmentBytes);
    }

    /// The longest segment for frames that fit into one TCP segment each (RFC 5044 4.5, without markers).
    ///
    /// @param segmentSize the payload of a TCP segment, in bytes
    public static int segmentLimit(int segmentSize) {
        int limit = segmentSize - (FpduLayout.DDP_CONTROL + CHECKSUM_BYTES + segmentSize % 4);
        return Math.min(Math.max(limit, MIN_SEGMENT_LIMIT), MAX_SEGMENT_BYTES);
    }

    /// Writes the trailer of a frame without checksum.
    ///
    /// @param at where the segment ended
    /// @return how many bytes it has
    public static int writeTrailer(ByteBuffer into, int at, int segmentBytes) {
        int padding = writePadding(into, at, segmentBytes);
        into.putInt(at + padding, 0);
        return padding + CHECKSUM_BYTES;
    }

    /// Writes the trailer of a frame with checksum.
    ///
    /// @param at where the segment ended
    /// @param checksum has seen everything from the length field to the end of the segment; sees the padding too
    /// @return how many bytes it has
    public static int writeTrailer(ByteBuffer into, int at, int segmentBytes, FpduChecksum checksum) {
        int padding = writePadding(into, at, segmentBytes);
        checksum.update(into, at, padding);
        into.putInt(at + padding, checksum.value());
        return padding + CHECKSUM_BYTES;
    }

    private static int writePadding(ByteBuffer into, int at, int segmentBytes) {
        int padding = padding(segmentBytes);
        for (int i = 0; i < padding; i++) {
            into.put(at + i, (byte) 0);
        }
        return padding;
    }

    /// Checks the trailer of a frame with checksum.
    ///
    /// @param at where the segment ended; the whole trailer is there
    /// @param checksum has seen everything from the length field to the end of the segment; sees the padding too
    /// @return [Violation#NONE] or [Violation#CHECKSUM]
    public static Violation checkTrailer(ByteBuffer from, int at, int segmentBytes, FpduChecksum checksum) {
        int padding = padding(segmentBytes);
        checksum.update(from, at, padding);
        return from.getInt(at + padding) == checksum.value() ? Violation.NONE : Violation.CHECKSUM;
    }
}
