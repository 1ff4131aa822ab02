package io.rdmacomm.mesh.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The memory of collectives.
final class CollectiveOptionsTest {
    private static final CollectiveOptions DEFAULTS = CollectiveOptions.defaults();

    @Test
    void eachCopyChangesOneOption() {
        CollectiveOptions changed = DEFAULTS.withSlots(3).withSlotBytes(1024).withMessageBytes(256);
        assertThat(SlotSizes.of(changed, 1)).isEqualTo(new SlotSizes(3, 1024, 256));
        assertThat(changed)
                .isEqualTo(DEFAULTS.withMessageBytes(256).withSlotBytes(1024).withSlots(3))
                .isNotEqualTo(changed.withSlots(4))
                .hasToString("3 slots of 1024 bytes and messages up to 256 bytes");
        assertThat(DEFAULTS.slots()).isEqualTo(4);
        assertThat(DEFAULTS).hasToString("4 slots of automatic length and messages up to 4096 bytes");
    }

    @ParameterizedTest
    @CsvSource({"1, 131072", "32, 131072", "33, 65536", "511, 8192", "5000, 4096"})
    void theAutomaticLengthKeepsTheSlotsOfARankBelow64MiB(int peers, int bytes) {
        assertThat(SlotSizes.of(DEFAULTS, peers).slotBytes()).isEqualTo(bytes);
    }

    @Test
    void valuesOutOfRangeAreNamed() {
        assertThatThrownBy(() -> DEFAULTS.withSlots(1)).hasMessage("slots is 1, must be 2 to 64");
        assertThatThrownBy(() -> DEFAULTS.withSlotBytes(0)).hasMessageStartingWith("slot bytes is 0, must be 256");
        assertThatThrownBy(() -> DEFAULTS.withSlotBytes(300)).hasMessageContaining("multiple of 64");
        assertThatThrownBy(() -> DEFAULTS.withMessageBytes(-1)).hasMessageContaining("message bytes is -1");
    }
}
