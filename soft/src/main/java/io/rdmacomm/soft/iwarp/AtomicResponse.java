package io.rdmacomm.soft.iwarp;

import java.nio.ByteBuffer;

/// The payload of an Atomic Response (RFC 7306 5.2).
public final class AtomicResponse {
    private AtomicResponse() {}

    /// Writes a response after the header that [SegmentHeader#encode] wrote.
    ///
    /// @param at the first byte of the frame
    public static void encode(ByteBuffer into, int at, int identifier, long original) {
        into.putInt(at + FpduLayout.ORIGINAL_IDENTIFIER, identifier);
        into.putLong(at + FpduLayout.ORIGINAL_VALUE, original);
    }

    /// The identifier of the request.
    public static int identifier(ByteBuffer from, int at) {
        return from.getInt(at + FpduLayout.ORIGINAL_IDENTIFIER);
    }

    /// The old value.
    public static long original(ByteBuffer from, int at) {
        return from.getLong(at + FpduLayout.ORIGINAL_VALUE);
    }
}
