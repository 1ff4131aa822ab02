package io.rdmacomm.soft.iwarp;

import java.nio.ByteBuffer;

/// The payload of an Acknowledge, a message that only our own devices send each other: how many requests of the
/// stream were executed, and what became of the next one. It adds two features of reliable connections to iWARP:
/// completions that mean "done at the peer", and a receiver that is not ready yet. Reusable.
///
/// Each RDMAP message that asks for something counts as one request, in any number of segments: Write, Send of any
/// kind, Immediate Data, Read Request, Atomic Request.
public final class Acknowledgement {
    /// All requests up to the count were executed.
    public static final int DONE = 0;
    /// The request after the count found no receive. The receiver keeps reading, but discards all requests until
    /// this one comes again: the sender waits for [#rnrTimer], then goes back to it and its message number.
    public static final int RECEIVER_NOT_READY = 1;
    /// The request after the count is invalid: `REMOTE_INVALID_REQUEST`.
    public static final int INVALID_REQUEST = 2;
    /// The request after the count names memory that may not be used: `REMOTE_ACCESS_ERROR`.
    public static final int ACCESS_ERROR = 3;
    /// The request after the count failed on the receiver's side: `REMOTE_OPERATION_ERROR`.
    public static final int OPERATION_ERROR = 4;
    /// The receiver's queue pair was closed or reset in an orderly way, and the stream ends: requests after the
    /// count were not executed and never will be. If the stream ends without it, the peer has died.
    public static final int CLOSED = 5;

    private static final int LARGEST_TIMER = 31;

    /// The number of requests that were executed since the start, modulo 2^32.
    public int count;
    /// One of the constants.
    public int syndrome;
    /// Code of the receiver-not-ready timer, 0 to 31 (`min_rnr_timer`, ibv_modify_qp(3)).
    public int rnrTimer;

    /// Writes the acknowledgement after the header that [SegmentHeader#encode] wrote.
    ///
    /// @param at the first byte of the frame
    public void encode(ByteBuffer into, int at) {
        into.putInt(at + FpduLayout.ACKNOWLEDGED, count);
        into.putInt(at + FpduLayout.SYNDROME, (syndrome << 24) | (rnrTimer << 16));
    }

    /// Reads an acknowledgement whose header passed [SegmentHeader#decode].
    ///
    /// @param at the first byte of the frame
    public Violation decode(ByteBuffer from, int at) {
        count = from.getInt(at + FpduLayout.ACKNOWLEDGED);
        syndrome = Byte.toUnsignedInt(from.get(at + FpduLayout.SYNDROME));
        rnrTimer = Byte.toUnsignedInt(from.get(at + FpduLayout.RNR_TIMER));
        return syndrome > CLOSED || rnrTimer > LARGEST_TIMER ? Violation.ACKNOWLEDGEMENT : Violation.NONE;
    }
}
