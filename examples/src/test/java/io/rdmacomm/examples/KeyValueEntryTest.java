package io.rdmacomm.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class KeyValueEntryTest {
    private final Arena arena = Arena.ofAuto();

    private MemorySegment written(long version, String value) {
        MemorySegment memory = arena.allocate(KeyValueEntry.BYTES, Long.BYTES);
        new KeyValueEntry(memory).write(version, KeyValueEntry.encode(value));
        return memory;
    }

    @Test
    void returnsWhatWasWritten() {
        KeyValueEntry entry = new KeyValueEntry(written(3, "a value"));
        assertThat(entry.isIntact()).isTrue();
        assertThat(entry.version()).isEqualTo(3);
        assertThat(entry.value()).isEqualTo("a value");
        assertThat(entry.owner()).isZero();
    }

    @Test
    void noMixtureOfTwoWritesIsIntact() {
        MemorySegment before = written(1, "a".repeat(4000));
        MemorySegment after = written(2, "b".repeat(3000));
        for (long torn = KeyValueEntry.CONTENT + 1; torn < 3000; torn++) {
            MemorySegment mixed =
                    arena.allocate(KeyValueEntry.BYTES, Long.BYTES).copyFrom(before);
            mixed.asSlice(0, torn).copyFrom(after.asSlice(0, torn));
            assertThat(new KeyValueEntry(mixed).isIntact())
                    .as("first %d bytes", torn)
                    .isFalse();
        }
    }

    @Test
    void memoryThatWasNeverWrittenIsNotIntact() {
        assertThat(new KeyValueEntry(arena.allocate(KeyValueEntry.BYTES, Long.BYTES)).isIntact())
                .isFalse();
    }

    @Test
    void rejectsValuesThatAreTooLong() {
        assertThatThrownBy(() -> KeyValueEntry.encode("x".repeat(KeyValueEntry.BYTES)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("4064");
    }
}
