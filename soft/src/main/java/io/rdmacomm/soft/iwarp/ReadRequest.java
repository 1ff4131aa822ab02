package io.rdmacomm.soft.iwarp;

import java.nio.ByteBuffer;

/// The payload of a Read Request (RFC 5040 4.4). Reusable.
public final class ReadRequest {
    /// Key of the requester's memory; repeated in each segment of the response.
    public int sinkKey;
    /// Address in the requester's memory.
    public long sinkAddress;
    /// The number of bytes, unsigned.
    public int bytes;
    /// Key of the responder's memory.
    public int sourceKey;
    /// Address in the responder's memory.
    public long sourceAddress;

    /// Writes the request after the header that [SegmentHeader#encode] wrote.
    ///
    /// @param at the first byte of the frame
    public void encode(ByteBuffer into, int at) {
        into.putInt(at + FpduLayout.SINK_KEY, sinkKey);
        into.putLong(at + FpduLayout.SINK_ADDRESS, sinkAddress);
        into.putInt(at + FpduLayout.READ_BYTES, bytes);
        into.putInt(at + FpduLayout.SOURCE_KEY, sourceKey);
        into.putLong(at + FpduLayout.SOURCE_ADDRESS, sourceAddress);
    }

    /// Reads a request whose header passed [SegmentHeader#decode].
    ///
    /// @param at the first byte of the frame
    public Violation decode(ByteBuffer from, int at) {
        sinkKey = from.getInt(at + FpduLayout.SINK_KEY);
        sinkAddress = from.getLong(at + FpduLayout.SINK_ADDRESS);
        bytes = from.getInt(at + FpduLayout.READ_BYTES);
        sourceKey = from.getInt(at + FpduLayout.SOURCE_KEY);
        sourceAddress = from.getLong(at + FpduLayout.SOURCE_ADDRESS);
        long length = Integer.toUnsignedLong(bytes);
        // A response to a sink that wraps around would violate the protocol on this side.
        boolean wraps = SegmentHeader.wraps(sourceAddress, length) || SegmentHeader.wraps(sinkAddress, length);
        return wraps ? Violation.ADDRESS_WRAP : Violation.NONE;
    }
}
