package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.CollectiveCase.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.mesh.Mesh;
import io.rdmacomm.comm.mesh.collective.Algorithm;
import io.rdmacomm.comm.mesh.collective.AlgorithmChoice;
import io.rdmacomm.comm.mesh.collective.CollectiveMismatchException;
import io.rdmacomm.comm.mesh.collective.CollectiveOptions;
import io.rdmacomm.comm.mesh.collective.ElementType;
import io.rdmacomm.comm.mesh.collective.Elements;
import io.rdmacomm.comm.mesh.collective.Reduction;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.verbs.DeadlineException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Ranks that call different collectives, come too late, or leave.
final class CollectiveFailuresTest {
    private static final MeshDevice DEVICE = MeshDevice.all().getFirst();

    /// A call in words, so that the cases have names.
    record Step(String name, Consumer<Mesh> call) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static Step barrier() {
        return new Step("barrier", mesh -> mesh.barrier(PATIENCE));
    }

    private static Step broadcast(int count, int root) {
        return new Step(
                "broadcast of " + count + " from " + root,
                mesh -> mesh.collectives().broadcast(Elements.of(new int[count]), root, PATIENCE));
    }

    private static Step reduce(int count, int root) {
        return new Step("reduce of " + count + " to " + root, mesh -> {
            Elements data = Elements.of(new int[count]);
            mesh.collectives().reduce(data, data, Reduction.SUM, root, PATIENCE);
        });
    }

    private static Step sum(int count) {
        return new Step(
                "sum of " + count, mesh -> mesh.collectives().allReduce(new int[count], Reduction.SUM, PATIENCE));
    }

    private static Step ring(int count) {
        return new Step(
                "ring of " + count,
                mesh -> mesh.collectives()
                        .with(AlgorithmChoice.always(Algorithm.RING))
                        .allReduce(new int[count], Reduction.SUM, PATIENCE));
    }

    private static Step maximum(int count) {
        return new Step(
                "maximum of " + count, mesh -> mesh.collectives().allReduce(new int[count], Reduction.MAX, PATIENCE));
    }

    private static Step floats(int count) {
        return new Step(
                "sum of " + count + " floats",
                mesh -> mesh.collectives().allReduce(new float[count], Reduction.SUM, PATIENCE));
    }

    private static Step allGather(int count) {
        return new Step(
                "all-gather of " + count,
                mesh -> mesh.collectives()
                        .allGather(Elements.of(new int[count]), Elements.of(new int[count * mesh.size()]), PATIENCE));
    }

    private static Step allocate(long bytes) {
        return new Step("allocation of " + bytes, mesh -> {
            var _ = mesh.allocate("memory", bytes, PATIENCE);
        });
    }

    private static Step inBuffer(int count) {
        return new Step(
                "sum of " + count + " in a mesh buffer",
                mesh -> mesh.collectives()
                        .allReduce(
                                mesh.allocate("memory", 4L * count, PATIENCE).elements(ElementType.INT),
                                Reduction.SUM,
                                PATIENCE));
    }

    private static Step allocated(int bytes, Step then) {
        return new Step("allocation and " + then, mesh -> {
            var _ = mesh.allocate("memory", bytes, PATIENCE);
            then.call().accept(mesh);
        });
    }

    /// The call of one rank, the call of all others, and which rank it is.
    private static Stream<Arguments> mismatches() {
        return Stream.of(
                Arguments.of(barrier(), sum(10), 1),
                Arguments.of(barrier(), broadcast(10, 0), 0),
                Arguments.of(sum(10), sum(11), 2),
                Arguments.of(sum(0), sum(1), 0),
                Arguments.of(sum(5000), sum(5001), 1),
                Arguments.of(sum(10), maximum(10), 3),
                Arguments.of(sum(10), floats(10), 3),
                Arguments.of(sum(10), ring(10), 1),
                Arguments.of(broadcast(10, 0), broadcast(10, 1), 2),
                Arguments.of(broadcast(4000, 0), broadcast(4000, 1), 1),
                Arguments.of(allGather(3), allGather(4), 0),
                Arguments.of(allGather(3), reduce(3, 0), 2),
                Arguments.of(allocate(64), allocate(128), 1),
                Arguments.of(allocated(4000, sum(1000)), inBuffer(1000), 2),
                // Here the one rank waits for nothing that comes, and sends nothing that others wait for.
                Arguments.of(broadcast(10, 0), reduce(10, 1), 3),
                Arguments.of(broadcast(10, 0), reduce(10, 0), 3));
    }

    @ParameterizedTest(name = "{0} on rank {2}, else {1}")
    @MethodSource("mismatches")
    void differentCallsFailOnAllRanks(Step one, Step others, int odd) {
        try (Ranks ranks = Ranks.join(4, DEVICE)) {
            List<Throwable> failures = failures(ranks, mesh -> {
                mesh.barrier(PATIENCE);
                (mesh.rank() == odd ? one : others).call().accept(mesh);
                // A rank whose part was complete learns of it in its next call.
                mesh.barrier(PATIENCE);
            });
            assertThat(failures)
                    .hasSize(4)
                    .allSatisfy(failure -> assertThat(failure)
                            .isInstanceOfAny(CollectiveMismatchException.class, ClosedException.class)
                            .hasMessageContaining("do not call the same collectives")
                            .hasMessageContaining("all ranks must make the same calls in the same order"));
            assertThat(failures)
                    .anySatisfy(failure -> assertThat(failure)
                            .isInstanceOf(CollectiveMismatchException.class)
                            .hasMessageMatching(".*ranks \\d and \\d .*")
                            .hasMessageContaining("" + odd));
            assertThat(failures(ranks, mesh -> mesh.barrier(PATIENCE)))
                    .hasSize(4)
                    .allMatch(ClosedException.class::isInstance);
        }
    }

    @Test
    void differentOrderFailsOnAllRanks() {
        try (Ranks ranks = Ranks.join(3, DEVICE)) {
            List<Throwable> failures = failures(ranks, mesh -> {
                if (mesh.rank() == 0) {
                    broadcast(3, 0).call().accept(mesh);
                    broadcast(4, 0).call().accept(mesh);
                } else {
                    broadcast(4, 0).call().accept(mesh);
                    broadcast(3, 0).call().accept(mesh);
                }
                mesh.barrier(PATIENCE);
            });
            assertThat(failures)
                    .hasSize(3)
                    .allSatisfy(failure -> assertThat(failure)
                            .hasMessageContaining("broadcast of 3 INT")
                            .hasMessageContaining("broadcast of 4 INT"));
        }
    }

    @Test
    void differentOptionsFailOnAllRanks() {
        try (MeshNodes nodes = MeshNodes.join(2, DEVICE.options())) {
            nodes.node(0).collectives(Ranks.SMALL);
            nodes.node(1).collectives(Ranks.SMALL.withSlotBytes(2048));
            assertThatThrownBy(() -> nodes.node(0).collectives(CollectiveOptions.defaults()))
                    .isInstanceOf(IllegalStateException.class);
            List<CompletableFuture<Boolean>> calls = nodes.all().stream()
                    .map(mesh -> MeshNodes.inThread(() -> {
                        mesh.barrier(PATIENCE);
                        return true;
                    }))
                    .toList();
            assertThat(calls)
                    .allSatisfy(call -> assertThat(Ranks.failure(call))
                            .isInstanceOf(CollectiveMismatchException.class)
                            .hasMessageContaining("same collective options"));
        }
    }

    @Test
    void aRankThatDoesNotComeIsNamed() {
        try (Ranks ranks = Ranks.join(2, DEVICE)) {
            List<Throwable> failures = failures(ranks, mesh -> {
                mesh.barrier(PATIENCE);
                if (mesh.rank() == 0) {
                    mesh.collectives().allReduce(new long[100], Reduction.SUM, Duration.ofMillis(300));
                }
            });
            assertThat(failures)
                    .hasSize(1)
                    .allSatisfy(failure -> assertThat(failure)
                            .isInstanceOf(DeadlineException.class)
                            .hasMessageContaining("has not ended within 300 ms")
                            .hasMessageContaining("rank 0 waits for rank 1"));
            // It may see the calls of the others before it sees that they have given up.
            assertThatThrownBy(() -> ranks.mesh(1).barrier(PATIENCE))
                    .isInstanceOfAny(ClosedException.class, CollectiveMismatchException.class);
        }
    }

    @Test
    void aRankThatLeavesIsNamed() {
        try (Ranks ranks = Ranks.join(3, DEVICE)) {
            List<Throwable> failures = failures(ranks, mesh -> {
                mesh.barrier(PATIENCE);
                if (mesh.rank() == 1) {
                    mesh.close();
                } else {
                    mesh.barrier(PATIENCE);
                }
            });
            assertThat(failures)
                    .hasSize(2)
                    .allSatisfy(failure -> assertThat(failure).hasMessageContaining("rank 1 has left the mesh"));
        }
    }

    @Test
    void oneThreadAtATime() throws InterruptedException {
        try (Ranks ranks = Ranks.join(2, DEVICE)) {
            CountDownLatch refused = new CountDownLatch(1);
            Thread waiting = Thread.ofPlatform().start(() -> ranks.mesh(0).barrier(PATIENCE));
            Deadline.await(
                    "the first thread in the barrier",
                    () -> Arrays.stream(waiting.getStackTrace())
                            .anyMatch(frame -> frame.getClassName().endsWith(".mesh.collective.Waiting")));
            Thread second = Thread.ofPlatform().start(() -> {
                while (refused.getCount() > 0 && waiting.isAlive()) {
                    try {
                        ranks.mesh(0).collectives().allReduce(new int[1], Reduction.SUM, Duration.ofMillis(1));
                    } catch (IllegalStateException e) {
                        refused.countDown();
                    } catch (DeadlineException | ClosedException | CollectiveMismatchException e) {
                        // It was faster than the first thread.
                        return;
                    }
                }
            });
            second.join();
            if (refused.getCount() == 0) {
                ranks.mesh(1).barrier(PATIENCE);
            }
            waiting.join();
            assertThat(refused.getCount()).isZero();
        }
    }

    private static List<Throwable> failures(Ranks ranks, Consumer<Mesh> task) {
        Function<Mesh, Boolean> call = mesh -> {
            task.accept(mesh);
            return true;
        };
        return ranks.call(call).stream()
                .map(Ranks::failure)
                .filter(Objects::nonNull)
                .toList();
    }
}
