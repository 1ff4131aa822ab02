package io.rdmacomm.cli.bench.trial;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DataPatternTest {
    @ParameterizedTest
    @ValueSource(ints = {1, 7, 8, 9, 63, 64, 1000})
    void everyChangedByteIsFound(int bytes) {
        MemorySegment memory = MemorySegment.ofArray(new byte[bytes]);
        DataPattern.fill(memory, 4711);

        assertThat(DataPattern.mismatch(memory, bytes, 4711)).isEqualTo(-1);
        for (long at = 0; at < bytes; at++) {
            byte right = memory.get(ValueLayout.JAVA_BYTE, at);
            memory.set(ValueLayout.JAVA_BYTE, at, (byte) ~right);
            assertThat(DataPattern.mismatch(memory, bytes, 4711)).isBetween(at - 7, at);
            memory.set(ValueLayout.JAVA_BYTE, at, right);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 4710, 4712, -4711})
    void theDataOfAnotherTestIsFound(long seed) {
        MemorySegment memory = MemorySegment.ofArray(new byte[16]);
        DataPattern.fill(memory, seed);

        assertThat(DataPattern.mismatch(memory, 16, 4711)).isZero();
    }
}
