package io.rdmacomm.soft.roce.wire;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PsnTest {
    private static final int HALF = 1 << 23;

    @Test
    void numbersWrapAround() {
        assertThat(Psn.add(Psn.MASK, 1)).isZero();
        assertThat(Psn.add(0, -1)).isEqualTo(Psn.MASK);
        assertThat(Psn.add(0xff_fff0, 0x20)).isEqualTo(0x10);
    }

    @Test
    void distancesAreThoseThatWereAdded() {
        for (int psn : new int[] {0, 1, HALF - 1, HALF, Psn.MASK - 1, Psn.MASK}) {
            for (int count : new int[] {0, 1, -1, 128, -128, HALF - 1, 1 - HALF, -HALF}) {
                assertThat(Psn.distance(Psn.add(psn, count), psn))
                        .as("%x + %d", psn, count)
                        .isEqualTo(count);
            }
        }
    }

    @Test
    void theNumberOppositeIsBehind() {
        assertThat(Psn.distance(HALF, 0)).isEqualTo(-HALF);
        assertThat(Psn.distance(0, HALF)).isEqualTo(-HALF);
    }
}
