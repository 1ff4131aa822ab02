package io.rdmacomm.mesh.join;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ConnectionOrderTest {
    private static final int SIZE = 13;

    @Test
    void eachPairOfNodesConnectsOnce() {
        int[][] connections = new int[SIZE][SIZE];
        for (int rank = 0; rank < SIZE; rank++) {
            int from = rank;
            new ConnectionOrder(rank, SIZE).targets().forEach(to -> {
                assertThat(new ConnectionOrder(to, SIZE).accepts(from))
                        .as("%d to %d", from, to)
                        .isTrue();
                connections[from][to]++;
                connections[to][from]++;
            });
        }
        for (int one = 0; one < SIZE; one++) {
            for (int other = 0; other < SIZE; other++) {
                assertThat(connections[one][other])
                        .as("connections of %d and %d", one, other)
                        .isEqualTo(one == other ? 0 : 1);
            }
        }
    }

    /// When all nodes take the same time for each connection, no node has two clients at a time.
    @Test
    void eachNodeHasOneClientAtATime() {
        for (int step = 0; step < SIZE; step++) {
            int now = step;
            int[] targets = IntStream.range(0, SIZE)
                    .mapToObj(rank -> new ConnectionOrder(rank, SIZE).targets().toArray())
                    .filter(order -> now < order.length)
                    .mapToInt(order -> order[now])
                    .toArray();
            assertThat(targets).doesNotHaveDuplicates();
        }
    }

    @Test
    void nodesOfLowerRankAndStrangersAreNotAccepted() {
        ConnectionOrder order = new ConnectionOrder(3, SIZE);
        assertThat(IntStream.range(-1, SIZE + 2).filter(order::accepts))
                .containsExactly(IntStream.range(4, SIZE).boxed().toArray(Integer[]::new));
    }
}
