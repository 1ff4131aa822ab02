package io.rdmacomm.soft.iwarp;

import java.nio.ByteBuffer;

/// The message that ends a stream with a reason and, if it has one, the header that caused it (RFC 5040 4.8).
/// Reusable.
///
/// Linux siw on little-endian machines sends the bit fields of the first and the third byte in reverse order. The
/// third byte shows the order, unless it is 0; then some values have two readings, and [#alternative] is the other
/// one.
public final class TerminateMessage {
    private static final int HAS_LENGTH = 0x80;
    private static final int HAS_DDP_HEADER = 0x40;
    private static final int HAS_RDMAP_HEADER = 0x20;
    private static final int CONTROL_MASK = HAS_LENGTH | HAS_DDP_HEADER | HAS_RDMAP_HEADER;
    private static final int SWAPPED_LENGTH = 0x01;
    private static final int SWAPPED_DDP_HEADER = 0x02;
    private static final int SWAPPED_MASK = 0x07;
    private static final int LENGTH_BYTES = 2;
    private static final int OPCODE_MASK = 0x0f;
    private static final int LLP_BY_RFC = 0x20;
    private static final int READ_HEADER_BYTES = FpduLayout.READ_REQUEST_BYTES - FpduLayout.UNTAGGED_BYTES;

    /// Why the stream ends.
    public TerminateCode code = TerminateCode.UNKNOWN;
    /// Its other possible meaning, or [TerminateCode#UNKNOWN].
    public TerminateCode alternative = TerminateCode.UNKNOWN;
    /// Bytes 20 to 23 of the frame, unchanged.
    public int raw;
    /// Opcode of the segment that caused it, or -1 if the message does not contain it.
    public int causeOpcode = -1;
    /// The key in the header of that segment.
    public int causeKey;
    /// Tagged: the address in the header of that segment.
    public long causeAddress;
    /// Untagged: the number of the message that caused it.
    public int causeNumber;

    /// Writes a whole Terminate message; only the trailer must follow.
    ///
    /// @param at the first byte of the frame
    /// @param header scratch
    /// @param reason why
    /// @return how many bytes it has, from the first byte of the frame
    public static int encode(ByteBuffer into, int at, SegmentHeader header, TerminateCode reason) {
        return encode(into, at, header, reason, 0);
    }

    /// Writes a whole Terminate message about a segment whose complete header [SegmentHeader#decode] has seen.
    ///
    /// @param at the first byte of the frame
    /// @param header the header of the offending segment; overwritten
    /// @param reason why
    /// @param cause the offending segment
    /// @param causeAt the first byte of its frame
    /// @return how many bytes it has, from the first byte of the frame
    public static int encode(
            ByteBuffer into, int at, SegmentHeader header, TerminateCode reason, ByteBuffer cause, int causeAt) {
        int control = HAS_LENGTH | HAS_DDP_HEADER;
        boolean tagged = Opcode.isTagged(header.opcode);
        int copied = (tagged ? FpduLayout.TAGGED_BYTES : FpduLayout.UNTAGGED_BYTES) - FpduLayout.DDP_CONTROL;
        if (header.opcode == Opcode.READ_REQUEST) {
            control |= HAS_RDMAP_HEADER;
            copied += READ_HEADER_BYTES;
        }
        int context = at + FpduLayout.TERMINATE_CONTEXT;
        into.putShort(context, cause.getShort(causeAt));
        into.put(context + LENGTH_BYTES, cause, causeAt + FpduLayout.DDP_CONTROL, copied);
        int bytes = encode(into, at, header, reason, LENGTH_BYTES + copied);
        into.put(at + FpduLayout.TERMINATE_CONTROL, (byte) control);
        return bytes;
    }

    private static int encode(ByteBuffer into, int at, SegmentHeader header, TerminateCode reason, int contextBytes) {
        // A stream ends once: the message is always the first of its queue.
        header.setUntagged(Opcode.TERMINATE, 1);
        header.payloadBytes = contextBytes;
        header.encode(into, at);
        int error = (reason.layer() << 4) | reason.type();
        into.putInt(at + FpduLayout.TERMINATE_ERROR, (error << 24) | (reason.code() << 16));
        return FpduLayout.TERMINATE_BYTES + contextBytes;
    }

    /// Reads a Terminate whose header passed [SegmentHeader#decode]. Never fails: the stream is over.
    ///
    /// @param at the first byte of the frame
    /// @param contextBytes [SegmentHeader#payloadBytes]
    public void decode(ByteBuffer from, int at, int contextBytes) {
        raw = from.getInt(at + FpduLayout.TERMINATE_ERROR);
        int control = raw >>> 8 & 0xff;
        boolean swapped = (control & SWAPPED_MASK) != 0 && (control & CONTROL_MASK) == 0;
        if (control == 0) {
            decodeAmbiguous();
        } else {
            code = read(swapped);
            alternative = TerminateCode.UNKNOWN;
        }
        boolean hasLength = (control & (swapped ? SWAPPED_LENGTH : HAS_LENGTH)) != 0;
        boolean hasHeader = (control & (swapped ? SWAPPED_DDP_HEADER : HAS_DDP_HEADER)) != 0;
        causeOpcode = -1;
        causeKey = 0;
        causeAddress = 0;
        causeNumber = 0;
        if (hasHeader) {
            int skipped = hasLength ? LENGTH_BYTES : 0;
            decodeCause(from, at + FpduLayout.TERMINATE_CONTEXT + skipped, contextBytes - skipped);
        }
    }

    /// Reads the error, with or without siw's order of bits.
    private TerminateCode read(boolean swapped) {
        int high = raw >>> 28;
        int low = raw >>> 24 & 0xf;
        return TerminateCode.of(swapped ? low : high, swapped ? high : low, raw >>> 16 & 0xff);
    }

    private void decodeAmbiguous() {
        TerminateCode plain = read(false);
        TerminateCode turned = read(true);
        // MPA's errors 5 to 7 are about connection set-up (RFC 6581); on a running stream, siw's reading is more
        // likely.
        boolean preferTurned =
                plain == TerminateCode.UNKNOWN || (raw >>> 24 == LLP_BY_RFC && turned != TerminateCode.UNKNOWN);
        code = preferTurned ? turned : plain;
        TerminateCode other = preferTurned ? plain : turned;
        alternative = other == code ? TerminateCode.UNKNOWN : other;
    }

    /// Reads the header that caused the error. It begins after the length field.
    private void decodeCause(ByteBuffer from, int control, int available) {
        int frame = control - FpduLayout.DDP_CONTROL;
        if (available < FpduLayout.TAGGED_BYTES - FpduLayout.DDP_CONTROL) {
            return;
        }
        int opcode = from.get(frame + FpduLayout.RDMAP_CONTROL) & OPCODE_MASK;
        causeKey = from.getInt(frame + FpduLayout.KEY);
        if (Opcode.isTagged(opcode)) {
            causeAddress = from.getLong(frame + FpduLayout.ADDRESS);
        } else if (available >= FpduLayout.UNTAGGED_BYTES - FpduLayout.DDP_CONTROL) {
            causeNumber = from.getInt(frame + FpduLayout.MESSAGE_NUMBER);
        } else {
            return;
        }
        causeOpcode = opcode;
    }

    /// For messages: `the peer reports: DDP untagged, no receive posted (about Send)`.
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(96).append("the peer reports: ").append(code);
        if (code == TerminateCode.UNKNOWN) {
            text.append(" 0x").append(Integer.toHexString(raw));
        }
        if (alternative != TerminateCode.UNKNOWN) {
            text.append(", or ").append(alternative);
        }
        if (causeOpcode >= 0) {
            text.append(" (about ").append(Opcode.name(causeOpcode)).append(')');
        }
        return text.toString();
    }
}
