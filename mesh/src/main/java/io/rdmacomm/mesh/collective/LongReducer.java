package io.rdmacomm.mesh.collective;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// A [Reducer] of `long`.
final class LongReducer implements Reducer {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final int BLOCK = BLOCK_BYTES / Long.BYTES;

    private final Reduction reduction;
    private final long[] left = new long[BLOCK];
    private final long[] right = new long[BLOCK];

    LongReducer(Reduction reduction) {
        this.reduction = reduction;
    }

    @Override
    public void combine(
            MemorySegment a,
            long aOffset,
            MemorySegment b,
            long bOffset,
            MemorySegment out,
            long outOffset,
            int bytes) {
        for (int at = 0; at < bytes; at += BLOCK_BYTES) {
            int count = Math.min(BLOCK_BYTES, bytes - at) / Long.BYTES;
            MemorySegment.copy(a, LONG, aOffset + at, left, 0, count);
            MemorySegment.copy(b, LONG, bOffset + at, right, 0, count);
            switch (reduction) {
                case SUM -> sum(left, right, count);
                case PRODUCT -> product(left, right, count);
                case MIN -> min(left, right, count);
                case MAX -> max(left, right, count);
            }
            MemorySegment.copy(left, 0, out, LONG, outOffset + at, count);
        }
    }

    private static void sum(long[] left, long[] right, int count) {
        for (int i = 0; i < count; i++) {
            left[i] = left[i] + right[i];
        }
    }

    private static void product(long[] left, long[] right, int count) {
        for (int i = 0; i < count; i++) {
            left[i] = left[i] * right[i];
        }
    }

    private static void min(long[] left, long[] right, int count) {
        for (int i = 0; i < count; i++) {
            left[i] = Math.min(left[i], right[i]);
        }
    }

    private static void max(long[] left, long[] right, int count) {
        for (int i = 0; i < count; i++) {
            left[i] = Math.max(left[i], right[i]);
        }
    }
}
