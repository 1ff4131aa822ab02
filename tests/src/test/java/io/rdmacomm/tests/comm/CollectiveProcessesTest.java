package io.rdmacomm.tests.comm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.mesh.Mesh;
import io.rdmacomm.mesh.NodeFailedException;
import io.rdmacomm.tests.fixture.Amount;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Ranks in processes of their own.
final class CollectiveProcessesTest {
    private static Stream<MeshDevice> devices() {
        return MeshDevice.all().stream();
    }

    @Tag("slow")
    @ParameterizedTest
    @MethodSource("devices")
    void ranksInThreeProcessesGetTheResultsOfAPlainComputation(MeshDevice device) throws IOException {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        int port = MeshNodes.freePort();
        String[] work = {"cases", "" + seed, "" + Amount.of(400, 50)};
        try (CollectiveProgram zero = CollectiveProgram.start(device, 0, 3, port, work);
                CollectiveProgram one = CollectiveProgram.start(device, 1, 3, port, work);
                CollectiveProgram two = CollectiveProgram.start(device, 2, 3, port, work)) {
            assertThat(List.of(zero.readLine(), one.readLine(), two.readLine())).containsOnly("done");
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @MethodSource("devices")
    void aRankThatDiesInASumIsNamedByAll(MeshDevice device) throws IOException, InterruptedException {
        int port = MeshNodes.freePort();
        try (CollectiveProgram two = CollectiveProgram.start(device, 2, 4, port, "sums");
                CollectiveProgram three = CollectiveProgram.start(device, 3, 4, port, "sums")) {
            CountDownLatch summing = new CountDownLatch(2);
            List<CompletableFuture<Throwable>> ends = Stream.of(0, 1)
                    .map(rank -> MeshNodes.inThread(() -> endOf(device, rank, port, summing)))
                    .toList();
            assertThat(two.readLine()).isEqualTo("summing");
            assertThat(three.readLine()).isEqualTo("summing");
            summing.await();

            two.kill();

            for (CompletableFuture<Throwable> end : ends) {
                assertThat(end.join())
                        .isInstanceOf(NodeFailedException.class)
                        .hasMessageContaining("rank 2")
                        .extracting(failure -> ((NodeFailedException) failure).rank())
                        .isEqualTo(2);
            }
            assertThat(three.readLine()).isEqualTo("lost rank 2");
        }
    }

    private static Throwable endOf(MeshDevice device, int rank, int port, CountDownLatch summing) {
        try (Mesh mesh = CollectiveProgram.join(device, rank, 4, port)) {
            CollectiveProgram.sumUntilARankDies(mesh, summing::countDown);
            return new AssertionError("it ended");
        } catch (RuntimeException | Error e) {
            return e;
        }
    }
}
