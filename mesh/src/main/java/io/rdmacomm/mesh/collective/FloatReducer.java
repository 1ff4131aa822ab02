package io.rdmacomm.mesh.collective;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// A [Reducer] of `float`.
final class FloatReducer implements Reducer {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;
    private static final int BLOCK = BLOCK_BYTES / Float.BYTES;

    private final Reduction reduction;
    private final float[] left = new float[BLOCK];
    private final float[] right = new float[BLOCK];

    FloatReducer(Reduction reduction) {
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
            int count = Math.min(BLOCK_BYTES, bytes - at) / Float.BYTES;
            MemorySegment.copy(a, FLOAT, aOffset + at, left, 0, count);
            MemorySegment.copy(b, FLOAT, bOffset + at, right, 0, count);
            switch (reduction) {
                case SUM -> sum(left, right, count);
                case PRODUCT -> product(left, right, count);
                case MIN -> min(left, right, count);
                case MAX -> max(left, right, count);
            }
            MemorySegment.copy(left, 0, out, FLOAT, outOffset + at, count);
        }
    }

    private static void sum(float[] left, float[] right, int count) {
        for (int i = 0; i < count; i++) {
            left[i] = left[i] + right[i];
        }
    }

    private static void product(float[] left, float[] right, int count) {
        for (int i = 0; i < count; i++) {
            left[i] = left[i] * right[i];
        }
    }

    private static void min(float[] left, float[] right, int count) {
        for (int i = 0; i < count; i++) {
            left[i] = Math.min(left[i], right[i]);
        }
    }

    private static void max(float[] left, float[] right, int count) {
        for (int i = 0; i < count; i++) {
            left[i] = Math.max(left[i], right[i]);
        }
    }
}
