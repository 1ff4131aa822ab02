package io.rdmacomm.mesh.collective;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/// Ranges in blocks and pieces.
final class BlocksTest {
    @Test
    void piecesOfAllBlocksCoverTheRangeInOrder() {
        for (int ranks = 1; ranks < 9; ranks++) {
            for (long count : new long[] {0, 1, 2, 7, 8, 9, 63, 64, 65, 1000}) {
                Blocks blocks = new Blocks(count, 8, ranks, 256);
                long next = 0;
                for (int block = 0; block < ranks; block++) {
                    assertThat(blocks.start(block)).isEqualTo(next);
                    for (int piece = 0; piece < blocks.pieces(); piece++) {
                        assertThat(blocks.offset(block, piece)).isEqualTo(next);
                        assertThat(blocks.bytes(block, piece)).isBetween(0, 256).matches(bytes -> bytes % 8 == 0);
                        next += blocks.bytes(block, piece);
                    }
                }
                assertThat(next).isEqualTo(8 * count);
            }
        }
    }

    @Test
    void blocksAreCountedAround() {
        Blocks blocks = new Blocks(10, 1, 4, 64);
        assertThat(blocks.start(-1)).isEqualTo(blocks.start(3)).isEqualTo(8);
        assertThat(blocks.start(5)).isEqualTo(blocks.start(1)).isEqualTo(3);
    }

    @Test
    void nothingIsOneEmptyPiece() {
        assertThat(Blocks.pieces(0, 64)).isEqualTo(1);
        assertThat(Blocks.pieceLength(0, 0, 64)).isZero();
        assertThat(Blocks.pieces(64, 64)).isEqualTo(1);
        assertThat(Blocks.pieces(65, 64)).isEqualTo(2);
        assertThat(Blocks.pieceLength(65, 1, 64)).isEqualTo(1);
    }
}
