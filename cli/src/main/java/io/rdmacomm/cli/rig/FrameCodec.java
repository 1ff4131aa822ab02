package io.rdmacomm.cli.rig;

import io.rdmacomm.cli.command.CommandFailure;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/// Writes and reads the control messages of one protocol. On the wire, big-endian:
///
/// ```
/// u32 magic | u32 kind | u32 count of numbers | u32 length of text | u64 numbers ... | text in UTF-8
/// ```
///
/// A kind is the position of its constant in `K`, counted from 1: new kinds go to the end.
///
/// @param <K> the kinds of message of the protocol
public final class FrameCodec<K extends Enum<K>> {
    /// The length of the header of every frame.
    public static final int HEADER_BYTES = 16;

    private static final int MAX_TEXT_BYTES = 1024;

    /// The length of the longest frame.
    public static final int MAX_BYTES = HEADER_BYTES + Frame.MAX_NUMBERS * Long.BYTES + MAX_TEXT_BYTES;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final int magic;
    private final List<K> kinds;
    private final String hint;

    /// A codec for one protocol.
    ///
    /// @param magic the first four bytes of every frame
    /// @param hint advice for the user if the peer speaks another protocol
    public FrameCodec(int magic, Class<K> kinds, String hint) {
        this.magic = magic;
        this.kinds = List.of(kinds.getEnumConstants());
        this.hint = hint;
    }

    /// Writes `frame` to the beginning of `into`.
    ///
    /// @return its length
    public int write(Frame<K> frame, MemorySegment into) {
        byte[] text = frame.bytes();
        int textBytes = Math.min(text.length, MAX_TEXT_BYTES);
        into.set(INT, 0, magic);
        into.set(INT, 4, kinds.indexOf(frame.kind()) + 1);
        into.set(INT, 8, frame.numbers().size());
        into.set(INT, 12, textBytes);
        int at = HEADER_BYTES;
        for (long number : frame.numbers()) {
            into.set(LONG, at, number);
            at += Long.BYTES;
        }
        MemorySegment.copy(text, 0, into, ValueLayout.JAVA_BYTE, at, textBytes);
        return at + textBytes;
    }

    /// The length of the frame that begins with these [#HEADER_BYTES] bytes.
    ///
    /// @throws CommandFailure if it is not a frame of this protocol
    public int length(MemorySegment header) {
        int count = header.get(INT, 8);
        int textBytes = header.get(INT, 12);
        if (header.get(INT, 0) != magic
                || count < 0
                || count > Frame.MAX_NUMBERS
                || textBytes < 0
                || textBytes > MAX_TEXT_BYTES) {
            throw protocolError();
        }
        return HEADER_BYTES + Long.BYTES * count + textBytes;
    }

    /// Reads a frame from the peer. Trusts nothing in it.
    ///
    /// @throws CommandFailure if it is not a frame of this protocol
    public Frame<K> read(MemorySegment from) {
        if (from.byteSize() < HEADER_BYTES || length(from) > from.byteSize()) {
            throw protocolError();
        }
        int kind = from.get(INT, 4);
        if (kind < 1 || kind > kinds.size()) {
            throw protocolError();
        }
        List<Long> numbers = new ArrayList<>();
        int at = HEADER_BYTES;
        for (int count = from.get(INT, 8); count > 0; count--) {
            numbers.add(from.get(LONG, at));
            at += Long.BYTES;
        }
        byte[] text = from.asSlice(at, from.get(INT, 12)).toArray(ValueLayout.JAVA_BYTE);
        return new Frame<>(kinds.get(kind - 1), numbers, text);
    }

    /// The failure to report if the peer breaks the protocol.
    public CommandFailure protocolError() {
        return new CommandFailure("the peer speaks a different protocol: " + hint);
    }
}
