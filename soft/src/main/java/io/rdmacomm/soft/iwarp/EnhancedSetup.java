package io.rdmacomm.soft.iwarp;

import java.nio.ByteBuffer;

/// The 4 bytes before the private data of an enhanced request or reply (RFC 6581 4).
///
/// ```
/// +0  A | B | IRD (14 bits)
/// +2  C | D | ORD (14 bits)
/// ```
///
/// @param peerToPeer A: the initiator sends a ready-to-receive frame, so that the responder may send first
/// @param sendRtr B: that frame may be an empty Send
/// @param writeRtr C: it may be an empty Write
/// @param readRtr D: it may be an empty Read
/// @param inboundReads IRD: how many READs of the peer this side answers at a time
/// @param outboundReads ORD: how many READs this side wants to have outstanding
public record EnhancedSetup(
        boolean peerToPeer, boolean sendRtr, boolean writeRtr, boolean readRtr, int inboundReads, int outboundReads) {
    /// Size on the wire.
    public static final int BYTES = 4;
    /// An IRD or ORD that is left to the other side.
    public static final int NOT_NEGOTIATED = 0x3fff;

    private static final int FIRST_FLAG = 0x8000;
    private static final int SECOND_FLAG = 0x4000;

    /// Checks the ranges.
    public EnhancedSetup {
        if (inboundReads < 0 || inboundReads > NOT_NEGOTIATED || outboundReads < 0 || outboundReads > NOT_NEGOTIATED) {
            throw new IllegalArgumentException(
                    "IRD " + inboundReads + " and ORD " + outboundReads + " must be from 0 to " + NOT_NEGOTIATED);
        }
    }

    /// Writes it at the buffer's position.
    void encode(ByteBuffer into) {
        into.putShort((short) (flags(peerToPeer, sendRtr) | inboundReads));
        into.putShort((short) (flags(writeRtr, readRtr) | outboundReads));
    }

    /// Reads it at the buffer's position. All values are possible.
    static EnhancedSetup decode(ByteBuffer from) {
        int first = from.getShort();
        int second = from.getShort();
        return new EnhancedSetup(
                (first & FIRST_FLAG) != 0,
                (first & SECOND_FLAG) != 0,
                (second & FIRST_FLAG) != 0,
                (second & SECOND_FLAG) != 0,
                first & NOT_NEGOTIATED,
                second & NOT_NEGOTIATED);
    }

    private static int flags(boolean first, boolean second) {
        return (first ? FIRST_FLAG : 0) | (second ? SECOND_FLAG : 0);
    }
}
