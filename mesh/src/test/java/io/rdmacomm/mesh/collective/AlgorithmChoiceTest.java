package io.rdmacomm.mesh.collective;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/// The choice of algorithms.
final class AlgorithmChoiceTest {
    @Test
    void theLengthDecides() {
        AlgorithmChoice choice = AlgorithmChoice.defaults();
        assertThat(choice.algorithm(CollectiveKind.ALL_REDUCE, 4, choice.shortBytes()))
                .isEqualTo(Algorithm.RECURSIVE_DOUBLING);
        assertThat(choice.algorithm(CollectiveKind.ALL_REDUCE, 4, choice.shortBytes() + 1))
                .isEqualTo(Algorithm.RING);
        assertThat(choice.algorithm(CollectiveKind.ALL_REDUCE, choice.treeRanks(), choice.treeBytes()))
                .isEqualTo(Algorithm.DOUBLE_TREE);
        assertThat(choice.algorithm(CollectiveKind.ALL_REDUCE, choice.treeRanks(), choice.treeBytes() + 1))
                .isEqualTo(Algorithm.RING);
    }

    @Test
    void everyChoiceIsOneThatTheCollectiveKnows() {
        for (CollectiveKind kind : CollectiveKind.values()) {
            for (int ranks = 1; ranks < 20; ranks++) {
                for (long bytes = 1; bytes < 1L << 30; bytes *= 4) {
                    assertThat(kind.algorithms())
                            .contains(AlgorithmChoice.defaults().algorithm(kind, ranks, bytes));
                    for (Algorithm algorithm : Algorithm.values()) {
                        assertThat(kind.algorithms())
                                .contains(AlgorithmChoice.always(algorithm).algorithm(kind, ranks, bytes));
                    }
                }
            }
        }
    }

    @Test
    void aWantedAlgorithmIsUsedWhereItIsKnown() {
        AlgorithmChoice ring = AlgorithmChoice.always(Algorithm.RING);
        assertThat(ring.algorithm(CollectiveKind.ALL_REDUCE, 4, 8)).isEqualTo(Algorithm.RING);
        assertThat(ring.algorithm(CollectiveKind.BARRIER, 4, 0)).isEqualTo(Algorithm.DISSEMINATION);
    }
}
