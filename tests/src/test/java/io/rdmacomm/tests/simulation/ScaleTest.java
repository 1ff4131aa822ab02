package io.rdmacomm.tests.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.rdmacomm.comm.mesh.Algorithm;
import io.rdmacomm.comm.mesh.CollectiveKind;
import io.rdmacomm.comm.mesh.CollectiveOptions;
import io.rdmacomm.comm.mesh.Elements;
import io.rdmacomm.comm.mesh.Reduction;
import io.rdmacomm.comm.mesh.SimulatedMesh;
import io.rdmacomm.tests.simulation.clock.Coroutines;
import io.rdmacomm.tests.simulation.clock.Network;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// The algorithms and the set-up of the library on the simulated network: results, steps and connections of meshes that
/// are small enough to know them exactly.
final class ScaleTest {
    private static final int[] SIZES = {2, 3, 4, 5, 8, 13};
    private static final int[] MORE_SIZES = {2, 3, 4, 5, 8, 13, 16, 33};
    /// Pieces of 256 bytes, of which those up to 64 bytes travel in messages.
    private static final CollectiveOptions SHORT = new CollectiveOptions(2, 256, 64);

    // Collectives.

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
            assertThat(mesh.nanos()).as("hops of %d", size).isEqualTo(rounds);
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
            assertThat(mesh.nanos())
                    .as("hops of %d", size)
                    .isBetween(rounds + (folded == 0 ? 0.0 : 1.0), rounds + (folded == 0 ? 0.0 : 2.0));
            assertThat(mesh.allPieces()).isEqualTo((long) Integer.highestOneBit(size) * rounds + 2L * folded);
        }
    }

    @Test
    void aRingTakesTwoHopsForEachOtherRank() throws InterruptedException {
        for (int size : MORE_SIZES) {
            SimulatedMesh mesh = hops(size);
            run(mesh, CollectiveKind.ALL_REDUCE, Algorithm.RING, size);
            assertThat(mesh.nanos()).as("hops of %d", size).isEqualTo(2.0 * (size - 1));
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
                assertThat(mesh.nanos())
                        .as("hops of %d by %s", size, algorithm)
                        .isBetween(Math.floor(Math.log(size) / Math.log(2)), 2.0 * levels);
                assertThat(mesh.allPieces()).isEqualTo(2L * trees * (size - 1));
                assertThat(mesh.mostPeers()).isLessThanOrEqualTo(3 * trees);
            }
        }
    }

    /// Without this, extrapolation would not be possible.
    @Test
    void theTimeOfARingGrowsByTheSameForEachRank() throws InterruptedException {
        double[] nanos = new double[3];
        for (int i = 0; i < nanos.length; i++) {
            int size = 32 * (i + 1);
            SimulatedMesh mesh = SimulatedMesh.withoutData(Network.adapters(), size, CollectiveOptions.defaults());
            run(mesh, CollectiveKind.ALL_REDUCE, Algorithm.RING, 4 * size);
            nanos[i] = mesh.nanos();
        }
        assertThat(nanos[2] - nanos[1]).isCloseTo(nanos[1] - nanos[0], within(1e-6 * nanos[2]));
    }

    @Test
    void timesDoNotDependOnThePlaceOfTheData() throws InterruptedException {
        SimulatedMesh real = SimulatedMesh.withData(Network.adapters(), 12, SHORT, true);
        SimulatedMesh timed = SimulatedMesh.withoutData(Network.adapters(), 12, SHORT);
        run(real, CollectiveKind.ALL_REDUCE, Algorithm.RING, 10_000);
        run(timed, CollectiveKind.ALL_REDUCE, Algorithm.RING, 10_000);
        assertThat(timed.nanos()).isEqualTo(real.nanos());
        assertThat(timed.mostNotices()).isEqualTo(real.mostNotices());
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
        return SimulatedMesh.withoutData(Network.hops(), size, CollectiveOptions.defaults());
    }

    private static void run(SimulatedMesh mesh, CollectiveKind kind, Algorithm algorithm, int count)
            throws InterruptedException {
        Elements[] numbers = IntStream.range(0, mesh.size())
                .mapToObj(rank -> Elements.of(new int[count]))
                .toArray(Elements[]::new);
        mesh.run(kind, algorithm, rank -> numbers[rank], rank -> numbers[rank], Reduction.SUM, 0);
    }

    // Set-up.

    @Test
    void allNodesAreConnectedOnce() {
        for (int size : new int[] {2, 3, 10, 100}) {
            SimulatedJoin.Result result =
                    SimulatedJoin.inOrder(size, JoinCosts.usual()).run();
            assertThat(result.connections()).isEqualTo((long) size * (size - 1) / 2);
            assertThat(result.refused() + result.closed() + result.dropped()).isZero();
            assertThat(result.mostSettingUp()).as("clients at a time").isEqualTo(1);
        }
    }

    @Test
    void ifAllBeganWithRankZeroItWouldHaveAllOfThemAtOnce() {
        int size = 60;
        SimulatedJoin.Result usual =
                SimulatedJoin.inOrder(size, JoinCosts.usual()).run();
        SimulatedJoin.Result opposite =
                SimulatedJoin.inOppositeOrder(size, JoinCosts.usual()).run();
        assertThat(opposite.connections()).isEqualTo(usual.connections());
        assertThat(opposite.mostSettingUp()).isEqualTo(size - 1);
        assertThat(usual.seconds()).isLessThan(opposite.seconds() / 2);
    }

    @Test
    void connectingEndsHoweverFewCanWait() {
        for (int limit = 1; limit <= 4; limit++) {
            JoinCosts costs = JoinCosts.usual().withLimits(limit, limit, limit);
            for (SimulatedJoin join :
                    new SimulatedJoin[] {SimulatedJoin.inOrder(25, costs), SimulatedJoin.inOppositeOrder(25, costs)}) {
                SimulatedJoin.Result result = join.run();
                assertThat(result.mostSettingUp()).isLessThanOrEqualTo(limit);
                assertThat(result.dropped()).isPositive();
            }
        }
    }
}
