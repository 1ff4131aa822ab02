package io.rdmacomm.mesh.collective;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.function.IntFunction;

/// One collective on simulated ranks that give numbers, and the results it must have.
///
/// @param registered whether the numbers are in mesh buffers
record SumCase(CollectiveKind kind, Algorithm algorithm, int size, boolean registered) {
    private static final int[] COUNTS = {0, 1, 17, 64, 300};
    private static final SlotSizes SIZES = new SlotSizes(2, 256, 64);

    /// Runs it with several numbers of elements, one call behind the other.
    void check() throws InterruptedException {
        SimulatedMesh mesh = new SimulatedMesh(size, SIZES, registered);
        for (int count : COUNTS) {
            check(mesh, count);
        }
    }

    private void check(SimulatedMesh mesh, int count) throws InterruptedException {
        boolean gathers = kind == CollectiveKind.ALL_GATHER || kind == CollectiveKind.ALLOCATE;
        boolean scatters = kind == CollectiveKind.REDUCE_SCATTER;
        boolean exchanges = kind == CollectiveKind.ALL_TO_ALL;
        int root = kind == CollectiveKind.BROADCAST || kind == CollectiveKind.REDUCE ? count % size : 0;
        int[][] from = numbers(rank -> given(rank, scatters || exchanges ? count * size : count));
        int[][] into = numbers(rank -> new int[gathers || exchanges ? count * size : count]);
        if (kind == CollectiveKind.BROADCAST) {
            into = numbers(rank -> rank == root ? given(root, count) : new int[count]);
        }
        Elements[] gives = Arrays.stream(from).map(Elements::of).toArray(Elements[]::new);
        Elements[] gets = Arrays.stream(into).map(Elements::of).toArray(Elements[]::new);
        mesh.run(kind, algorithm, rank -> gives[rank], rank -> gets[rank], Reduction.SUM, root);
        for (int rank = 0; rank < size; rank++) {
            if (kind != CollectiveKind.BARRIER && (kind != CollectiveKind.REDUCE || rank == root)) {
                assertThat(into[rank])
                        .as("%s of %d elements on rank %d", this, count, rank)
                        .isEqualTo(expected(rank, count, root));
            }
        }
    }

    private int[][] numbers(IntFunction<int[]> ofRank) {
        int[][] numbers = new int[size][];
        Arrays.setAll(numbers, ofRank);
        return numbers;
    }

    private static int[] given(int rank, int count) {
        int[] numbers = new int[count];
        Arrays.setAll(numbers, i -> 31 * (rank + 1) + 7 * i);
        return numbers;
    }

    private int[] expected(int rank, int count, int root) {
        return switch (kind) {
            case BARRIER -> new int[0];
            case BROADCAST -> given(root, count);
            case REDUCE, ALL_REDUCE -> sum(count);
            case REDUCE_SCATTER -> Arrays.copyOfRange(sum(count * size), rank * count, (rank + 1) * count);
            case ALL_GATHER, ALLOCATE -> blocks(count, block -> given(block, count));
            case ALL_TO_ALL ->
                blocks(
                        count,
                        block -> Arrays.copyOfRange(given(block, count * size), rank * count, (rank + 1) * count));
        };
    }

    private int[] sum(int count) {
        int[] sum = new int[count];
        for (int rank = 0; rank < size; rank++) {
            int[] numbers = given(rank, count);
            Arrays.setAll(sum, i -> sum[i] + numbers[i]);
        }
        return sum;
    }

    private int[] blocks(int count, IntFunction<int[]> ofRank) {
        int[] all = new int[count * size];
        for (int block = 0; block < size; block++) {
            System.arraycopy(ofRank.apply(block), 0, all, block * count, count);
        }
        return all;
    }
}
