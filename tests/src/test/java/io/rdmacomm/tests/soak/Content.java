package io.rdmacomm.tests.soak;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// The expected value of every byte: a function of a key and the offset.
final class Content {
    /// The content of memory that nobody writes into, such as the gap after each slot.
    static final long GUARD_KEY = 0x6775617264L;
    /// The content of memory that is no longer used.
    static final long UNTOUCHED_KEY = 0x756e746f75636865L;

    private static final long GOLDEN = 0x9e3779b97f4a7c15L;
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED;

    private Content() {}

    /// Mixes the bits of a number (the finalizer of SplitMix64).
    static long mix(long value) {
        long z = value + GOLDEN;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }

    /// Fills memory with the content of `key` from `start` on, which is a multiple of 8.
    static void fill(MemorySegment memory, long at, long length, long key, long start) {
        long whole = length & ~7L;
        for (long i = 0; i < whole; i += 8) {
            memory.set(WORD, at + i, word(key, start + i));
        }
        for (long i = whole; i < length; i++) {
            memory.set(ValueLayout.JAVA_BYTE, at + i, tail(key, start, i));
        }
    }

    /// The offset of the first wrong byte; -1 if there is none.
    static long wrong(MemorySegment memory, long at, long length, long key, long start) {
        long whole = length & ~7L;
        for (long i = 0; i < whole; i += 8) {
            long difference = memory.get(WORD, at + i) ^ word(key, start + i);
            if (difference != 0) {
                return i + Long.numberOfTrailingZeros(difference) / 8;
            }
        }
        for (long i = whole; i < length; i++) {
            if (memory.get(ValueLayout.JAVA_BYTE, at + i) != tail(key, start, i)) {
                return i;
            }
        }
        return -1;
    }

    /// Returns whether the gap after a slot, which begins at `at`, is as it was.
    static boolean isGuarded(MemorySegment memory, long at) {
        return wrong(memory, at, Shape.GUARD, GUARD_KEY, at) < 0;
    }

    private static long word(long key, long offset) {
        return mix(key + offset * GOLDEN);
    }

    private static byte tail(long key, long start, long i) {
        return (byte) (word(key, start + (i & ~7L)) >>> (8 * (i & 7)));
    }
}
