package io.rdmacomm.cli.interop;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// The content of the messages of ibv_rc_pingpong(1): 0x7b in every byte, except that -c puts zero at the beginning
/// of each page.
final class PingPongContent {
    private static final byte FILL = 0x7b;
    private static final int PAGE = 4096;

    private PingPongContent() {}

    /// Fills a message.
    static void fill(MemorySegment message, boolean checked) {
        for (long at = 0; at < message.byteSize(); at++) {
            message.set(ValueLayout.JAVA_BYTE, at, expected(at, checked));
        }
    }

    /// The offset of the first wrong byte in a message of a peer with -c; -1 if there is none.
    static long mismatch(MemorySegment message) {
        for (long at = 0; at < message.byteSize(); at++) {
            if (message.get(ValueLayout.JAVA_BYTE, at) != expected(at, true)) {
                return at;
            }
        }
        return -1;
    }

    private static byte expected(long at, boolean checked) {
        return checked && at % PAGE == 0 ? 0 : FILL;
    }
}
