package io.rdmacomm.soft.iwarp;

import java.nio.ByteBuffer;

/// The payload of Immediate Data, behind its untagged header (RFC 7306 6.1): the 4 bytes of verbs, then 4 zeros, as
/// on existing hardware.
public final class ImmediateData {
    private ImmediateData() {}

    /// Writes immediate data after the header that [SegmentHeader#encode] wrote.
    ///
    /// @param at the first byte of the frame
    /// @param value the four bytes, the first one on the wire in the highest bits
    public static void encode(ByteBuffer into, int at, int value) {
        into.putLong(at + FpduLayout.IMMEDIATE, (long) value << 32);
    }

    /// The four bytes, the first one on the wire in the highest bits.
    public static int decode(ByteBuffer from, int at) {
        return from.getInt(at + FpduLayout.IMMEDIATE);
    }
}
