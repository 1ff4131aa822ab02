package io.rdmacomm.cli.interop;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/// The text of rping(1): `rdma-ping-7: HIJK...`, with a NUL in the last byte.
public final class RpingText {
    /// The smallest buffer of rping(1): room for the prefix, any number, and a letter.
    public static final int MIN_BYTES = 26;
    /// The largest buffer of rping(1).
    public static final int MAX_BYTES = 65_535;

    private static final int FIRST_LETTER = 'A';
    private static final int LAST_LETTER = 'z';

    private RpingText() {}

    /// Fills `buffer` with ping `number`, counted from 0. The letters run from A to z, and each ping starts one
    /// letter later than the previous one.
    static void fill(MemorySegment buffer, long number) {
        byte[] prefix = ("rdma-ping-" + number + ": ").getBytes(StandardCharsets.US_ASCII);
        MemorySegment.copy(prefix, 0, buffer, ValueLayout.JAVA_BYTE, 0, prefix.length);
        int letter = letter(number);
        for (long at = prefix.length; at < buffer.byteSize() - 1; at++) {
            buffer.set(ValueLayout.JAVA_BYTE, at, (byte) letter);
            letter = letter == LAST_LETTER ? FIRST_LETTER : letter + 1;
        }
        buffer.set(ValueLayout.JAVA_BYTE, buffer.byteSize() - 1, (byte) 0);
    }

    /// The length of the text including its NUL; all of `buffer` if there is no NUL.
    static long length(MemorySegment buffer) {
        long at = 0;
        while (at < buffer.byteSize() && buffer.get(ValueLayout.JAVA_BYTE, at) != 0) {
            at++;
        }
        return Math.min(at + 1, buffer.byteSize());
    }

    /// The text for people. A question mark replaces everything that is not printable ASCII.
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
