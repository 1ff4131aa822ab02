package io.rdmacomm.cli.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// A small message of numbers and text. On the wire, big-endian:
///
/// ```
/// u32 magic | u32 kind | u32 count of numbers | u32 length of text | u64 numbers ... | text in UTF-8
/// ```
///
/// @param kind what it means; the protocol that uses it says which kinds there are
/// @param numbers at most 16
/// @param text cut off after 1024 bytes
public record Frame(int kind, List<Long> numbers, String text) {
    /// The length of the part that is always there.
    public static final int HEADER_BYTES = 16;

    /// The longest frame.
    public static final int MAX_BYTES = HEADER_BYTES + 16 * 8 + 1024;

    private static final int MAX_NUMBERS = 16;
    private static final int MAX_TEXT_BYTES = 1024;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /// Checks the number of numbers.
    public Frame {
        numbers = List.copyOf(numbers);
        if (numbers.size() > MAX_NUMBERS) {
            throw new IllegalArgumentException("a frame has at most " + MAX_NUMBERS + " numbers");
        }
    }

    /// Writes it to the beginning of `into`.
    ///
    /// @param magic what marks the frames of this protocol
    /// @return its length
    public int write(MemorySegment into, int magic) {
        byte[] words = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(words.length, MAX_TEXT_BYTES);
        into.set(INT, 0, magic);
        into.set(INT, 4, kind);
        into.set(INT, 8, numbers.size());
        into.set(INT, 12, length);
        for (int i = 0; i < numbers.size(); i++) {
            into.set(LONG, HEADER_BYTES + 8L * i, numbers.get(i));
        }
        long textAt = HEADER_BYTES + 8L * numbers.size();
        MemorySegment.copy(words, 0, into, ValueLayout.JAVA_BYTE, textAt, length);
        return (int) textAt + length;
    }

    /// How long the frame is that begins with these [#HEADER_BYTES] bytes; -1 if it is none of this protocol.
    public static int length(MemorySegment header, int magic) {
        int count = header.get(INT, 8);
        int length = header.get(INT, 12);
        boolean possible = header.get(INT, 0) == magic
                && count >= 0
                && count <= MAX_NUMBERS
                && length >= 0
                && length <= MAX_TEXT_BYTES;
        return possible ? HEADER_BYTES + 8 * count + length : -1;
    }

    /// Reads what a peer sent; empty if it is no frame of this protocol.
    public static Optional<Frame> read(MemorySegment from, int magic) {
        if (from.byteSize() < HEADER_BYTES) {
            return Optional.empty();
        }
        int whole = length(from, magic);
        if (whole < 0 || whole > from.byteSize()) {
            return Optional.empty();
        }
        int count = from.get(INT, 8);
        List<Long> numbers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            numbers.add(from.get(LONG, HEADER_BYTES + 8L * i));
        }
        long textAt = HEADER_BYTES + 8L * count;
        byte[] words = from.asSlice(textAt, whole - textAt).toArray(ValueLayout.JAVA_BYTE);
        return Optional.of(new Frame(from.get(INT, 4), numbers, new String(words, StandardCharsets.UTF_8)));
    }
}
