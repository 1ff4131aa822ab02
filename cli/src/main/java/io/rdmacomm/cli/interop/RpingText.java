package io.rdmacomm.cli.interop;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/// The text that rping(1) sends around: `rdma-ping-7: HIJK...`, up to a NUL in the last byte.
public final class RpingText {
    /// The shortest buffer that rping(1) takes: its words, any number, and a letter.
    public static final int MIN_BYTES = 26;
    /// The longest buffer that rping(1) takes.
    public static final int MAX_BYTES = 65_535;

    private static final int FIRST_LETTER = 'A';
    private static final int LAST_LETTER = 'z';

    private RpingText() {}

    /// Fills the whole of `buffer` with ping `number`, counted from 0. The letters run from A to z, and each ping
    /// begins with the letter after that of the ping before.
    static void fill(MemorySegment buffer, long number) {
        byte[] words = ("rdma-ping-" + number + ": ").getBytes(StandardCharsets.US_ASCII);
        MemorySegment.copy(words, 0, buffer, ValueLayout.JAVA_BYTE, 0, words.length);
        int letter = letter(number);
        for (long at = words.length; at < buffer.byteSize() - 1; at++) {
            buffer.set(ValueLayout.JAVA_BYTE, at, (byte) letter);
            letter = letter == LAST_LETTER ? FIRST_LETTER : letter + 1;
        }
        buffer.set(ValueLayout.JAVA_BYTE, buffer.byteSize() - 1, (byte) 0);
    }

    /// The bytes of the text with its NUL; all of `buffer` when there is none.
    static long length(MemorySegment buffer) {
        long at = 0;
        while (at < buffer.byteSize() && buffer.get(ValueLayout.JAVA_BYTE, at) != 0) {
            at++;
        }
        return Math.min(at + 1, buffer.byteSize());
    }

    /// The text for people; what is not printable ASCII becomes a question mark.
    static String text(MemorySegment buffer) {
        StringBuilder text = new StringBuilder();
        for (long at = 0; at < buffer.byteSize() && buffer.get(ValueLayout.JAVA_BYTE, at) != 0; at++) {
            byte letter = buffer.get(ValueLayout.JAVA_BYTE, at);
            text.append(letter >= ' ' && letter <= '~' ? (char) letter : '?');
        }
        return text.toString();
    }

    private static int letter(long number) {
        return FIRST_LETTER + (int) (number % (LAST_LETTER - FIRST_LETTER + 1));
    }
}
