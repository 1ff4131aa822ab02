package io.rdmacomm.mesh.collective;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// A [Reducer] of `double`.
final class DoubleReducer implements Reducer {
    private static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE_UNALIGNED;
    private static final int BLOCK = BLOCK_BYTES / Double.BYTES;

    private final Reduction reduction;
    private final double[] left = new double[BLOCK];
    private final double[] right = new double[BLOCK];

    DoubleReducer(Reduction reduction) {
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
            int count = Math.min(BLOCK_BYTES, bytes - at) / Double.BYTES;
            MemorySegment.copy(a, DOUBLE, aOffset + at, left, 0, count);
            MemorySegment.copy(b, DOUBLE, bOffset + at, right, 0, count);
            switch (reduction) {
                case SUM -> sum(left, right, count);
                case PRODUCT -> product(left, right, count);
                case MIN -> min(left, right, count);
                case MAX -> max(left, right, count);
            }
            MemorySegment.copy(left, 0, out, DOUBLE, outOffset + at, count);
        }
    }

    private static void sum(double[] left, double[] right, int count) {
        for (int i = 0; i < count; i++) {
            left[i] = left[i] + right[i];
        }
    }

    private static void product(double[] left, double[] right, int count) {
        for (int i = 0; i < count; i++) {
            left[i] = left[i] * right[i];
        }
    }

    private static void min(double[] left, double[] right, int count) {
        for (int i = 0; i < count; i++) {
            left[i] = Math.min(left[i], right[i]);
        }
    }

    private static void max(double[] left, double[] right, int count) {
        for (int i = 0; i < count; i++) {
            left[i] = Math.max(left[i], right[i]);
        }
    }
}
