package io.rdmacomm.comm.progress;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class ReceiveRoutesTest {
    private final ReceiveRoutes routes = new ReceiveRoutes();

    private static ReceiveRoute route() {
        return new ReceiveRoute() {
            @Override
            public void received(io.rdmacomm.verbs.Completions completions, int index, int receive) {}

            @Override
            public long owner() {
                return 0;
            }
        };
    }

    @Test
    void aNumberLeadsToItsRouteAndNoOther() {
        ReceiveRoute one = route();
        ReceiveRoute two = route();
        routes.add(7, one);
        routes.add(3, two);

        assertThat(routes.find(7)).isSameAs(one);
        assertThat(routes.find(3)).isSameAs(two);
        assertThat(routes.find(5)).isNull();
    }

    @Test
    void aNumberThatIsUsedAgainKeepsItsNewRoute() {
        ReceiveRoute old = route();
        ReceiveRoute successor = route();
        routes.add(7, old);
        routes.add(7, successor);
        routes.remove(7, old);

        assertThat(routes.find(7)).isSameAs(successor);
        routes.remove(7, successor);
        assertThat(routes.find(7)).isNull();
    }

    @Test
    void itFindsWhatAMapFinds() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        Map<Integer, ReceiveRoute> expected = new HashMap<>();
        for (int step = 0; step < 5000; step++) {
            int number = random.nextInt(100);
            ReceiveRoute known = expected.get(number);
            if (known == null || random.nextBoolean()) {
                ReceiveRoute added = route();
                routes.add(number, added);
                expected.put(number, added);
            } else {
                routes.remove(number, known);
                expected.remove(number);
            }
            int looked = random.nextInt(100);
            assertThat(routes.find(looked)).isSameAs(expected.get(looked));
        }
    }
}
