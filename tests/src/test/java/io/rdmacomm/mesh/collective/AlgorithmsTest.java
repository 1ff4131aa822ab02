package io.rdmacomm.mesh.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// The algorithms of the library on a simulated network: results, hops and pieces of meshes that are small enough
/// to know
/// them exactly.
final class AlgorithmsTest {
    private static final int[] SIZES = {2, 3, 4, 5, 8, 13};
    private static final int[] MORE_SIZES = {2, 3, 4, 5, 8, 13, 16, 33};

    @Test
    void everyAlgorithmGivesTheRightResultOnEveryRank() throws InterruptedException {
        for (int size : SIZES) {
            for (boolean registered : new boolean[] {false, true}) {
                for (CollectiveKind kind : CollectiveKind.values()) {
                    for (Algorithm algorithm : kind.algorithms()) {
                        new SumCase(kind, algorithm, size, registered).check();
                    }
                }
            }
        }
    }

    @Test
    void aBarrierTakesOneHopForEachDoubling() throws InterruptedException {
        for (int size : MORE_SIZES) {
            SimulatedMesh mesh = hops(size);
            run(mesh, CollectiveKind.BARRIER, Algorithm.DISSEMINATION, 0);
            int rounds = 32 - Integer.numberOfLeadingZeros(size - 1);
            assertThat(mesh.hops()).as("hops of %d", size).isEqualTo(rounds);
            for (int rank = 0; rank < size; rank++) {
                assertThat(mesh.pieces(rank)).isEqualTo(rounds);
            }
        }
    }

    @Test
    void recursiveDoublingTakesUpToTwoHopsMoreWhereTheSizeIsNoPowerOfTwo() throws InterruptedException {
        for (int size : MORE_SIZES) {
            SimulatedMesh mesh = hops(size);
            run(mesh, CollectiveKind.ALL_REDUCE, Algorithm.RECURSIVE_DOUBLING, 1);
            int rounds = 31 - Integer.numberOfLeadingZeros(size);
            int folded = size - Integer.highestOneBit(size);
            assertThat(mesh.hops())
                    .as("hops of %d", size)
                    .isBetween(rounds + (folded == 0 ? 0 : 1), rounds + (folded == 0 ? 0 : 2));
            assertThat(mesh.allPieces()).isEqualTo((long) Integer.highestOneBit(size) * rounds + 2L * folded);
        }
    }

    @Test
    void aRingTakesTwoHopsForEachOtherRank() throws InterruptedException {
        for (int size : MORE_SIZES) {
            SimulatedMesh mesh = hops(size);
            run(mesh, CollectiveKind.ALL_REDUCE, Algorithm.RING, size);
            assertThat(mesh.hops()).as("hops of %d", size).isEqualTo(2 * (size - 1));
            for (int rank = 0; rank < size; rank++) {
                assertThat(mesh.pieces(rank)).isEqualTo(2L * (size - 1));
            }
            assertThat(mesh.mostPeers()).isLessThanOrEqualTo(2);
        }
    }

    @Test
    void aTreeTakesAsManyHopsAsItIsHighUpAndDown() throws InterruptedException {
        for (int size : MORE_SIZES) {
            for (Algorithm algorithm : new Algorithm[] {Algorithm.TREE, Algorithm.DOUBLE_TREE}) {
                SimulatedMesh mesh = hops(size);
                run(mesh, CollectiveKind.ALL_REDUCE, algorithm, 2);
                int trees = algorithm == Algorithm.TREE ? 1 : 2;
                int levels = 33 - Integer.numberOfLeadingZeros(size - 1);
                assertThat(mesh.hops())
                        .as("hops of %d by %s", size, algorithm)
                        .isBetween(31 - Integer.numberOfLeadingZeros(size), 2 * levels);
                assertThat(mesh.allPieces()).isEqualTo(2L * trees * (size - 1));
                assertThat(mesh.mostPeers()).isLessThanOrEqualTo(3 * trees);
            }
        }
    }

    @Test
    void programsThatWaitForEachOtherAreFound() {
        assertThatThrownBy(() -> {
                    Coroutines coroutines = new Coroutines();
                    coroutines.run(2, index -> coroutines.pause());
                })
                .hasMessageContaining("deadlock: 2 of 2");
    }

    private static SimulatedMesh hops(int size) {
        return new SimulatedMesh(size, SlotSizes.of(CollectiveOptions.defaults(), size - 1), true);
    }

    private static void run(SimulatedMesh mesh, CollectiveKind kind, Algorithm algorithm, int count)
            throws InterruptedException {
        Elements[] numbers = IntStream.range(0, mesh.size())
                .mapToObj(rank -> Elements.of(new int[count]))
                .toArray(Elements[]::new);
        mesh.run(kind, algorithm, rank -> numbers[rank], rank -> numbers[rank], Reduction.SUM, 0);
    }
}
