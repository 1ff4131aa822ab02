package io.rdmacomm.mesh.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Reductions of numbers that are not aligned, of any length, and in place.
final class ReducerTest {
    @Test
    void longNumbersAreCombinedOneByOne() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int count : new int[] {0, 1, 511, 512, 513, 2000}) {
            long[] a = random.longs(count).toArray();
            long[] b = random.longs(count).toArray();
            for (Reduction reduction : Reduction.values()) {
                long[] expected = new long[count];
                for (int i = 0; i < count; i++) {
                    expected[i] = switch (reduction) {
                        case SUM -> a[i] + b[i];
                        case PRODUCT -> a[i] * b[i];
                        case MIN -> Math.min(a[i], b[i]);
                        case MAX -> Math.max(a[i], b[i]);
                    };
                }
                long[] result = b.clone();
                MemorySegment out = MemorySegment.ofArray(result);
                Reducer.of(ElementType.LONG, reduction)
                        .combine(MemorySegment.ofArray(a), 0, out, 0, out, 0, count * Long.BYTES);
                assertThat(result).as("seed %d, %s", seed, reduction).isEqualTo(expected);
            }
        }
    }

    @Test
    void numbersNeedNotBeAligned() {
        byte[] memory = new byte[100];
        MemorySegment segment = MemorySegment.ofArray(memory);
        segment.set(ValueLayout.JAVA_FLOAT_UNALIGNED, 1, 2.5f);
        segment.set(ValueLayout.JAVA_FLOAT_UNALIGNED, 7, -1f);
        Reducer.of(ElementType.FLOAT, Reduction.SUM).combine(segment, 1, segment, 7, segment, 13, Float.BYTES);
        assertThat(segment.get(ValueLayout.JAVA_FLOAT_UNALIGNED, 13)).isEqualTo(1.5f);
    }

    @Test
    void bytesCannotBeReduced() {
        assertThatThrownBy(() -> Reducer.of(ElementType.BYTE, Reduction.SUM))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
