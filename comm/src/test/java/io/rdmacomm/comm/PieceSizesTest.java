package io.rdmacomm.comm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/// The sizes of places in a pool.
final class PieceSizesTest {
    private static final int LAST = PieceSizes.index(1L << 60);

    @Test
    void eachSizeIsForTheLengthsAboveTheOneBefore() {
        for (int i = 0; i <= LAST; i++) {
            assertThat(PieceSizes.index(PieceSizes.bytes(i))).isEqualTo(i);
            assertThat(PieceSizes.index(PieceSizes.bytes(i) + 1)).isEqualTo(i + 1);
        }
        assertThat(PieceSizes.index(1)).isZero();
    }

    @Test
    void sizesGrowByAtMostAQuarterOr64Bytes() {
        for (int i = 0; i < LAST; i++) {
            long step = PieceSizes.bytes(i + 1) - PieceSizes.bytes(i);
            assertThat(step).isPositive().isLessThanOrEqualTo(Math.max(64, PieceSizes.bytes(i) / 4));
        }
    }

    @Test
    void placesBeginAtMultiplesOf64() {
        for (int i = 0; i <= LAST; i++) {
            assertThat(PieceSizes.bytes(i) % PieceSizes.SMALLEST).isZero();
        }
        assertThat(PieceSizes.bytes(LAST)).isEqualTo(1L << 60);
    }
}
