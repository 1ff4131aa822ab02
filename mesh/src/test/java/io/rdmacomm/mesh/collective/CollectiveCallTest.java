package io.rdmacomm.mesh.collective;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/// Calls as numbers and in words.
final class CollectiveCallTest {
    @Test
    void eachArgumentChangesTheCode() {
        long code = CollectiveCall.code(
                CollectiveKind.ALL_REDUCE, ElementType.INT, Reduction.SUM, Algorithm.RING, false, 0);
        assertThat(code)
                .isNotEqualTo(CollectiveCall.code(
                        CollectiveKind.REDUCE, ElementType.INT, Reduction.SUM, Algorithm.RING, false, 0))
                .isNotEqualTo(CollectiveCall.code(
                        CollectiveKind.ALL_REDUCE, ElementType.LONG, Reduction.SUM, Algorithm.RING, false, 0))
                .isNotEqualTo(CollectiveCall.code(
                        CollectiveKind.ALL_REDUCE, ElementType.INT, Reduction.MAX, Algorithm.RING, false, 0))
                .isNotEqualTo(CollectiveCall.code(
                        CollectiveKind.ALL_REDUCE, ElementType.INT, Reduction.SUM, Algorithm.TREE, false, 0))
                .isNotEqualTo(CollectiveCall.code(
                        CollectiveKind.ALL_REDUCE, ElementType.INT, Reduction.SUM, Algorithm.RING, true, 0))
                .isNotEqualTo(CollectiveCall.code(
                        CollectiveKind.ALL_REDUCE, ElementType.INT, Reduction.SUM, Algorithm.RING, false, 1));
    }

    @Test
    void wordsNameAllArguments() {
        long code = CollectiveCall.code(
                CollectiveKind.REDUCE, ElementType.DOUBLE, Reduction.MAX, Algorithm.DOUBLE_TREE, true, 700);
        assertThat(new CollectiveCall(3, 12, code))
                .hasToString("reduce of 12 DOUBLE (MAX) with root 700 in mesh buffers by double binary tree");
    }

    @Test
    void nonsenseOfAPeerIsNamedToo() {
        assertThat(new CollectiveCall(3, -1, -1L).toString())
                .contains("unknown collective 255", "unknown type 255", "unknown reduction 255", "unknown algorithm");
    }
}
