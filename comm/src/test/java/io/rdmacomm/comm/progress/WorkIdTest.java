package io.rdmacomm.comm.progress;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class WorkIdTest {
    private static final long SEQUENCES = 1L << 40;

    @ParameterizedTest
    @CsvSource({"0, 0, 0", "4095, 2047, 0", "7, 3, 1099511627775", "4095, 0, 5"})
    void thePartsComeBack(int slot, int generation, long sequence) {
        long base = WorkId.base(slot, generation);
        long id = WorkId.send(base, sequence);

        assertThat(WorkId.isReceive(id)).isFalse();
        assertThat(WorkId.base(id)).isEqualTo(base);
        assertThat(WorkId.slot(id)).isEqualTo(slot);
        assertThat(WorkId.sequence(id, 0)).isEqualTo(sequence);
    }

    @Test
    void aReceiveIsTellableFromASend() {
        long base = WorkId.base(4095, 2047);
        long id = WorkId.receive(base, 65535);

        assertThat(WorkId.isReceive(id)).isTrue();
        assertThat(WorkId.base(id)).isEqualTo(base);
        assertThat(WorkId.slot(id)).isEqualTo(4095);
        assertThat(WorkId.index(id)).isEqualTo(65535);
    }

    @Test
    void slotsAndGenerationsDoNotMix() {
        assertThat(WorkId.base(1, 0)).isNotEqualTo(WorkId.base(0, 1));
        assertThat(WorkId.base(1, 1)).isNotEqualTo(WorkId.base(1, 2));
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "1099511627770, 20", "2199023255552, 0", "5000000000000, 65537"})
    void theSequenceIsFoundAgainWhenItHasWrapped(long oldest, long ahead) {
        long id = WorkId.send(WorkId.base(3, 4), oldest + ahead);
        assertThat(WorkId.sequence(id, oldest)).isEqualTo(oldest + ahead);
        assertThat(ahead).isLessThan(SEQUENCES);
    }
}
