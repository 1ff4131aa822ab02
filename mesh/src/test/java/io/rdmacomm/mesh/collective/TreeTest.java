package io.rdmacomm.mesh.collective;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/// Trees of all sizes.
final class TreeTest {
    private static final int LARGEST = 300;

    @Test
    void eachPositionIsReachedOnceFromTheRoot() {
        for (int size = 1; size <= LARGEST; size++) {
            for (Tree tree : List.of(Tree.binary(size), Tree.secondBinary(size), Tree.chain(size))) {
                assertThat(tree.parent(0)).isEqualTo(Tree.NONE);
                assertThat(reached(tree, 0))
                        .as("positions of a tree of " + size)
                        .isEqualTo(size);
                for (int position = 1; position < size; position++) {
                    int parent = tree.parent(position);
                    assertThat(List.of(tree.firstChild(parent), tree.secondChild(parent)))
                            .contains(position);
                    assertThat(tree.depth(position)).isEqualTo(tree.depth(parent) + 1);
                }
            }
        }
    }

    private static int reached(Tree tree, int position) {
        int first = tree.firstChild(position);
        int second = tree.secondChild(position);
        return 1 + (first == Tree.NONE ? 0 : reached(tree, first)) + (second == Tree.NONE ? 0 : reached(tree, second));
    }

    @Test
    void binaryTreesAreLow() {
        for (int size = 2; size <= LARGEST; size++) {
            int levels = 33 - Integer.numberOfLeadingZeros(size - 1);
            assertThat(Tree.binary(size).height()).isLessThanOrEqualTo(levels);
            assertThat(Tree.secondBinary(size).height()).isLessThanOrEqualTo(levels);
            assertThat(Tree.chain(size).height()).isEqualTo(size - 1);
        }
    }

    @Test
    void noPositionForwardsInBothTrees() {
        for (int size = 2; size <= LARGEST; size++) {
            Tree first = Tree.binary(size);
            Tree second = Tree.secondBinary(size);
            for (int position = 1; position < size; position++) {
                assertThat(first.firstChild(position) != Tree.NONE && second.firstChild(position) != Tree.NONE)
                        .as("position " + position + " of " + size)
                        .isFalse();
            }
        }
    }
}
