package io.rdmacomm.mesh.collective;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// A [Reducer] of `int`.
final class IntReducer implements Reducer {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final int BLOCK = BLOCK_BYTES / Integer.BYTES;

    private final Reduction reduction;
    private final int[] left = new int[BLOCK];
    private final int[] right = new int[BLOCK];

    IntReducer(Reduction reduction) {
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
            int count = Math.min(BLOCK_BYTES, bytes - at) / Integer.BYTES;
            MemorySegment.copy(a, INT, aOffset + at, left, 0, count);
            MemorySegment.copy(b, INT, bOffset + at, right, 0, count);
            switch (reduction) {
                case SUM -> sum(left, right, count);
                case PRODUCT -> product(left, right, count);
                case MIN -> min(left, right, count);
                case MAX -> max(left, right, count);
            }
            MemorySegment.copy(left, 0, out, INT, outOffset + at, count);
        }
    }

    private static void sum(int[] left, int[] right, int count) {
        for (int i = 0; i < count; i++) {
            left[i] = left[i] + right[i];
        }
    }

    private static void product(int[] left, int[] right, int count) {
        for (int i = 0; i < count; i++) {
            left[i] = left[i] * right[i];
        }
    }

    private static void min(int[] left, int[] right, int count) {
        for (int i = 0; i < count; i++) {
            left[i] = Math.min(left[i], right[i]);
        }
    }

    private static void max(int[] left, int[] right, int count) {
        for (int i = 0; i < count; i++) {
            left[i] = Math.max(left[i], right[i]);
        }
    }
}
