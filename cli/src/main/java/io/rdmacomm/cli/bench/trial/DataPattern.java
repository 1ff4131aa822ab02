package io.rdmacomm.cli.bench.trial;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// Bytes that depend on a seed and their offset, which exposes data at the wrong offset, of the wrong length or
/// left over from an earlier test.
public final class DataPattern {
    private static final long GOLDEN = 0x9e37_79b9_7f4a_7c15L;

    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private DataPattern() {}

    /// Fills `memory`.
    public static void fill(MemorySegment memory, long seed) {
        long words = memory.byteSize() & ~7L;
        for (long at = 0; at < words; at += 8) {
            memory.set(WORD, at, word(seed, at));
        }
        for (long at = words; at < memory.byteSize(); at++) {
            memory.set(ValueLayout.JAVA_BYTE, at, tail(seed, at));
        }
    }

    /// The offset of the first of `bytes` bytes, or of its word, that differs from the pattern; -1 if none does.
    public static long mismatch(MemorySegment memory, long bytes, long seed) {
        long words = bytes & ~7L;
        for (long at = 0; at < words; at += 8) {
            if (memory.get(WORD, at) != word(seed, at)) {
                return at;
            }
        }
        for (long at = words; at < bytes; at++) {
            if (memory.get(ValueLayout.JAVA_BYTE, at) != tail(seed, at)) {
                return at;
            }
        }
        return -1;
    }

    private static long word(long seed, long at) {
        long mixed = (seed + at) * GOLDEN;
        return mixed ^ mixed >>> 29;
    }

    /// A byte after the last whole word: the one that a whole word would have there.
    private static byte tail(long seed, long at) {
        return (byte) (word(seed, at & ~7L) >>> (8 * (at & 7)));
    }
}
