package io.rdmacomm.tests.comm;

import io.rdmacomm.mesh.collective.ElementType;
import io.rdmacomm.mesh.collective.Elements;
import io.rdmacomm.mesh.collective.Reduction;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.random.RandomGenerator;

/// Numbers of any type as text and as plain arithmetic, which collectives are compared with.
final class Numbers {
    private Numbers() {}

    /// Fills with random numbers. Those of floating point are small integers, whose sums and products are exact in
    /// any order.
    static void fill(Elements elements, RandomGenerator random) {
        MemorySegment memory = elements.segment();
        for (long i = 0; i < elements.count(); i++) {
            switch (elements.type()) {
                case BYTE -> memory.set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
                case INT -> memory.setAtIndex(ValueLayout.JAVA_INT_UNALIGNED, i, random.nextInt());
                case LONG -> memory.setAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, i, random.nextLong());
                case FLOAT -> memory.setAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, i, random.nextInt(-2, 3));
                case DOUBLE -> memory.setAtIndex(ValueLayout.JAVA_DOUBLE_UNALIGNED, i, random.nextInt(-4, 5));
            }
        }
    }

    /// Combines `other` into `into`, one number after the other.
    static void combine(Elements into, Elements other, Reduction reduction) {
        MemorySegment a = into.segment();
        MemorySegment b = other.segment();
        for (long i = 0; i < into.count(); i++) {
            switch (into.type()) {
                case BYTE -> throw new IllegalArgumentException("bytes are not reduced");
                case INT -> {
                    var layout = ValueLayout.JAVA_INT_UNALIGNED;
                    a.setAtIndex(layout, i, of(a.getAtIndex(layout, i), b.getAtIndex(layout, i), reduction));
                }
                case LONG -> {
                    var layout = ValueLayout.JAVA_LONG_UNALIGNED;
                    a.setAtIndex(layout, i, of(a.getAtIndex(layout, i), b.getAtIndex(layout, i), reduction));
                }
                case FLOAT -> {
                    var layout = ValueLayout.JAVA_FLOAT_UNALIGNED;
                    a.setAtIndex(layout, i, of(a.getAtIndex(layout, i), b.getAtIndex(layout, i), reduction));
                }
                case DOUBLE -> {
                    var layout = ValueLayout.JAVA_DOUBLE_UNALIGNED;
                    a.setAtIndex(layout, i, of(a.getAtIndex(layout, i), b.getAtIndex(layout, i), reduction));
                }
            }
        }
    }

    private static int of(int a, int b, Reduction reduction) {
        return switch (reduction) {
            case SUM -> a + b;
            case PRODUCT -> a * b;
            case MIN -> Math.min(a, b);
            case MAX -> Math.max(a, b);
        };
    }

    private static long of(long a, long b, Reduction reduction) {
        return switch (reduction) {
            case SUM -> a + b;
            case PRODUCT -> a * b;
            case MIN -> Math.min(a, b);
            case MAX -> Math.max(a, b);
        };
    }

    private static float of(float a, float b, Reduction reduction) {
        return switch (reduction) {
            case SUM -> a + b;
            case PRODUCT -> a * b;
            case MIN -> Math.min(a, b);
            case MAX -> Math.max(a, b);
        };
    }

    private static double of(double a, double b, Reduction reduction) {
        return switch (reduction) {
            case SUM -> a + b;
            case PRODUCT -> a * b;
            case MIN -> Math.min(a, b);
            case MAX -> Math.max(a, b);
        };
    }

    /// Elements of a type in an array of that type.
    static Elements inArray(ElementType type, int count) {
        return switch (type) {
            case BYTE -> Elements.of(new byte[count]);
            case INT -> Elements.of(new int[count]);
            case LONG -> Elements.of(new long[count]);
            case FLOAT -> Elements.of(new float[count]);
            case DOUBLE -> Elements.of(new double[count]);
        };
    }

    /// The bytes of elements.
    static byte[] bytes(Elements elements) {
        return elements.segment().toArray(ValueLayout.JAVA_BYTE);
    }
}
