package io.rdmacomm.soft.iwarp;

import java.nio.ByteBuffer;

/// The header of one DDP segment with its RDMAP control byte: one reusable object for each direction of a
/// connection. Buffers are big-endian and accessed by absolute index; their position is ignored and unchanged.
///
/// Reserved bits are sent as zero and ignored (RFC 5041 4.1, 4.2).
public final class SegmentHeader {
    private static final int TAGGED = 0x80;
    private static final int LAST = 0x40;
    private static final int DDP_VERSION_MASK = 0x03;
    private static final int DDP_VERSION = 0x01;
    private static final int RDMAP_VERSION_MASK = 0xc0;
    private static final int RDMAP_VERSION = 0x40;
    private static final int OPCODE_MASK = 0x0f;

    /// Of [Opcode].
    public int opcode;
    /// Whether this segment ends its message.
    public boolean last;
    /// Tagged: the key to place with. Untagged: the key to invalidate, or immediate data, or 0.
    public int key;
    /// Tagged: the address to place at.
    public long address;
    /// Untagged: the number of the message in its queue.
    public int messageNumber;
    /// Untagged: the offset of this segment in its message, unsigned.
    public int messageOffset;
    /// The number of bytes that follow the header; see [Opcode#headerBytes(int)].
    public int payloadBytes;

    /// A tagged segment.
    public void setTagged(int newOpcode, boolean isLast, int newKey, long newAddress, int bytes) {
        opcode = newOpcode;
        last = isLast;
        key = newKey;
        address = newAddress;
        payloadBytes = bytes;
    }

    /// An untagged message of one segment without payload; the other fields may be set afterwards.
    public void setUntagged(int newOpcode, int number) {
        opcode = newOpcode;
        last = true;
        key = 0;
        messageNumber = number;
        messageOffset = 0;
        payloadBytes = 0;
    }

    /// The number of bytes of the DDP segment, according to the length field.
    public int segmentBytes() {
        return headerBytes() - FpduLayout.DDP_CONTROL + payloadBytes;
    }

    /// The number of bytes before the payload.
    public int headerBytes() {
        return Opcode.headerBytes(opcode);
    }

    /// Writes the header, without that of the RDMAP message (Read Request, Atomic Request and the like).
    ///
    /// @param at the first byte of the frame
    public void encode(ByteBuffer into, int at) {
        boolean tagged = Opcode.isTagged(opcode);
        int ddp = (tagged ? TAGGED : 0) | (last ? LAST : 0) | DDP_VERSION;
        into.putInt(at, (segmentBytes() << 16) | (ddp << 8) | RDMAP_VERSION | opcode);
        into.putInt(at + FpduLayout.KEY, key);
        if (tagged) {
            into.putLong(at + FpduLayout.ADDRESS, address);
        } else {
            into.putInt(at + FpduLayout.QUEUE, Opcode.queue(opcode));
            into.putInt(at + FpduLayout.MESSAGE_NUMBER, messageNumber);
            into.putInt(at + FpduLayout.MESSAGE_OFFSET, messageOffset);
        }
    }

    /// The number of further bytes that must arrive before [#decode] may be called. Reads only bytes that have
    /// arrived. A message of fixed length counts as header as a whole, and so does the relevant part of a
    /// Terminate.
    ///
    /// @param at the first byte of the frame
    /// @param available how many bytes from there have come
    /// @return 0 if the header is complete, or can already be rejected
    public static int missing(ByteBuffer from, int at, int available) {
        if (available < FpduLayout.PREFIX_BYTES) {
            return FpduLayout.PREFIX_BYTES - available;
        }
        int frame = FpduLayout.DDP_CONTROL + Short.toUnsignedInt(from.getShort(at));
        int opcode = from.get(at + FpduLayout.RDMAP_CONTROL) & OPCODE_MASK;
        int header = Opcode.headerBytes(opcode);
        if (!Opcode.isKnown(opcode) || frame < header) {
            return 0;
        }
        if (opcode == Opcode.TERMINATE) {
            header = Math.min(frame, FpduLayout.MAX_HEADER_BYTES);
        }
        return Math.max(0, header - available);
    }

    /// Reads a complete header, and checks all that does not depend on earlier segments.
    ///
    /// @param at the first byte of the frame
    /// @return [Violation#NONE], or why the stream must end; the fields are undefined then
    public Violation decode(ByteBuffer from, int at) {
        int frame = FpduLayout.DDP_CONTROL + Short.toUnsignedInt(from.getShort(at));
        int ddp = from.get(at + FpduLayout.DDP_CONTROL);
        int rdmap = from.get(at + FpduLayout.RDMAP_CONTROL);
        boolean tagged = (ddp & TAGGED) != 0;
        opcode = rdmap & OPCODE_MASK;
        last = (ddp & LAST) != 0;
        Violation violation = checkControl(ddp, rdmap, tagged);
        if (violation != Violation.NONE) {
            return violation;
        }
        payloadBytes = frame - headerBytes();
        if (payloadBytes < 0) {
            return Violation.TOO_SHORT;
        }
        key = from.getInt(at + FpduLayout.KEY);
        return tagged ? decodeTagged(from, at) : decodeUntagged(from, at);
    }

    private Violation checkControl(int ddp, int rdmap, boolean tagged) {
        if ((ddp & DDP_VERSION_MASK) != DDP_VERSION) {
            return tagged ? Violation.TAGGED_VERSION : Violation.UNTAGGED_VERSION;
        }
        if ((rdmap & RDMAP_VERSION_MASK) != RDMAP_VERSION) {
            return Violation.RDMAP_VERSION;
        }
        if (!Opcode.isKnown(opcode)) {
            return Violation.UNKNOWN_OPCODE;
        }
        return tagged == Opcode.isTagged(opcode) ? Violation.NONE : Violation.BUFFER_MODEL;
    }

    private Violation decodeTagged(ByteBuffer from, int at) {
        address = from.getLong(at + FpduLayout.ADDRESS);
        return wraps(address, payloadBytes) ? Violation.TAGGED_ADDRESS_WRAP : Violation.NONE;
    }

    private Violation decodeUntagged(ByteBuffer from, int at) {
        messageNumber = from.getInt(at + FpduLayout.MESSAGE_NUMBER);
        messageOffset = from.getInt(at + FpduLayout.MESSAGE_OFFSET);
        if (from.getInt(at + FpduLayout.QUEUE) != Opcode.queue(opcode)) {
            return Violation.QUEUE;
        }
        if (Opcode.mayHaveSegments(opcode)) {
            long end = Integer.toUnsignedLong(messageOffset) + payloadBytes;
            return end > 0xffff_ffffL ? Violation.MESSAGE_TOO_LONG : Violation.NONE;
        }
        if (!last || messageOffset != 0) {
            return Violation.SEGMENTED;
        }
        return payloadBytes > 0 && opcode != Opcode.TERMINATE ? Violation.TOO_LONG : Violation.NONE;
    }

    /// Whether the range exceeds 2^64.
    static boolean wraps(long address, long bytes) {
        return bytes != 0 && Long.compareUnsigned(address + bytes - 1, address) < 0;
    }
}
