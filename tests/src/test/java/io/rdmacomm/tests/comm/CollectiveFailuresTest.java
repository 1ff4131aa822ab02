package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.CollectiveCase.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.mesh.Mesh;
import io.rdmacomm.mesh.Rendezvous;
import io.rdmacomm.mesh.collective.Algorithm;
import io.rdmacomm.mesh.collective.AlgorithmChoice;
import io.rdmacomm.mesh.collective.CollectiveMismatchException;
import io.rdmacomm.mesh.collective.CollectiveOptions;
import io.rdmacomm.mesh.collective.ElementType;
import io.rdmacomm.mesh.collective.Elements;
import io.rdmacomm.mesh.collective.MeshBuffer;
import io.rdmacomm.mesh.collective.Reduction;
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
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
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
        return new Step("barrier", mesh -> mesh.barrier(TIMEOUT));
    }

    private static Step broadcast(int count, int root) {
        return new Step(
                "broadcast of " + count + " from " + root,
                mesh -> mesh.collectives().broadcast(Elements.of(new int[count]), root, TIMEOUT));
    }

    private static Step reduce(int count, int root) {
        return new Step("reduce of " + count + " to " + root, mesh -> {
            Elements data = Elements.of(new int[count]);
            mesh.collectives().reduce(data, data, Reduction.SUM, root, TIMEOUT);
        });
    }

    private static Step sum(int count) {
        return new Step(
                "sum of " + count, mesh -> mesh.collectives().allReduce(new int[count], Reduction.SUM, TIMEOUT));
    }

    private static Step ring(int count) {
        return new Step(
                "ring of " + count,
                mesh -> mesh.collectives()
                        .with(AlgorithmChoice.always(Algorithm.RING))
                        .allReduce(new int[count], Reduction.SUM, TIMEOUT));
    }

    private static Step maximum(int count) {
        return new Step(
                "maximum of " + count, mesh -> mesh.collectives().allReduce(new int[count], Reduction.MAX, TIMEOUT));
    }

    private static Step floats(int count) {
        return new Step(
                "sum of " + count + " floats",
                mesh -> mesh.collectives().allReduce(new float[count], Reduction.SUM, TIMEOUT));
    }

    private static Step allGather(int count) {
        return new Step(
                "all-gather of " + count,
                mesh -> mesh.collectives()
                        .allGather(Elements.of(new int[count]), Elements.of(new int[count * mesh.size()]), TIMEOUT));
    }

    private static Step allocate(long bytes) {
        return new Step("allocation of " + bytes, mesh -> {
            var _ = mesh.allocate("memory", bytes, TIMEOUT);
        });
    }

    private static Step inBuffer(int count) {
        return new Step(
                "sum of " + count + " in a mesh buffer",
                mesh -> mesh.collectives()
                        .allReduce(
                                mesh.allocate("memory", 4L * count, TIMEOUT).elements(ElementType.INT),
                                Reduction.SUM,
                                TIMEOUT));
    }

    private static Step allocated(int bytes, Step then) {
        return new Step("allocation and " + then, mesh -> {
            var _ = mesh.allocate("memory", bytes, TIMEOUT);
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
                mesh.barrier(TIMEOUT);
                (mesh.rank() == odd ? one : others).call().accept(mesh);
                // A rank whose part was complete learns of it in its next call.
                mesh.barrier(TIMEOUT);
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
            assertThat(failures(ranks, mesh -> mesh.barrier(TIMEOUT)))
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
                mesh.barrier(TIMEOUT);
            });
            assertThat(failures)
                    .hasSize(3)
                    .allSatisfy(failure -> assertThat(failure)
                            .hasMessageContaining("broadcast of 3 INT")
                            .hasMessageContaining("broadcast of 4 INT"));
        }
    }

    private static Stream<Arguments> differentOptions() {
        return Stream.of(
                Arguments.of(Ranks.SMALL.withSlots(4), "slots", 4, 3),
                Arguments.of(Ranks.SMALL.withSlotBytes(2048), "slotBytes", 2048, 1024),
                Arguments.of(Ranks.SMALL.withMessageBytes(512), "messageBytes", 512, 256));
    }

    @ParameterizedTest
    @MethodSource("differentOptions")
    void differentOptionsFailOnAllRanks(CollectiveOptions others, String option, int theirs, int own) {
        try (MeshNodes nodes = MeshNodes.join(2, DEVICE.options())) {
            nodes.node(0).collectives(Ranks.SMALL);
            nodes.node(1).collectives(others);
            assertThatThrownBy(() -> nodes.node(0).collectives(CollectiveOptions.defaults()))
                    .isInstanceOf(IllegalStateException.class);
            List<CompletableFuture<Boolean>> calls = nodes.all().stream()
                    .map(mesh -> MeshNodes.inThread(() -> {
                        mesh.barrier(TIMEOUT);
                        return true;
                    }))
                    .toList();
            // A rank that learns of it before its first call finds the collectives closed.
            assertThat(calls)
                    .allSatisfy(call -> assertThat(Ranks.failure(call))
                            .isInstanceOfAny(CollectiveMismatchException.class, ClosedException.class)
                            .hasMessageContaining("CollectiveOptions." + option + " is ")
                            .hasMessageContaining(own + " on rank 0")
                            .hasMessageContaining(theirs + " on rank 1")
                            .hasMessageContaining("all ranks must use the same collective options"));
            assertThat(calls)
                    .anySatisfy(
                            call -> assertThat(Ranks.failure(call)).isInstanceOf(CollectiveMismatchException.class));
        }
    }

    /// The name of a buffer that is left over would be taken at the next attempt.
    @Test
    void aFailedSetUpFreesItsMemory() {
        try (MeshNodes nodes = MeshNodes.join(2, DEVICE.options())) {
            Mesh mesh = nodes.node(0);
            try (RdmaBuffer taken = mesh.session().allocate("rdmacomm collectives, incoming", 64)) {
                assertThatThrownBy(() -> mesh.collectives(Ranks.SMALL))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining(taken.name());
            }
            assertThat(mesh.collectives(Ranks.SMALL).options()).isEqualTo(Ranks.SMALL);
        }
    }

    @Test
    void aSendWindowThatIsTooShortIsNamed() {
        SessionOptions options = DEVICE.options();
        try (MeshNodes nodes =
                MeshNodes.join(2, options.withChannel(options.channel().withSendWindow(1)))) {
            for (int time = 0; time < 2; time++) {
                assertThatThrownBy(() -> nodes.node(0).collectives(Ranks.SMALL))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("raise ChannelOptions.sendWindow");
            }
        }
    }

    /// The receive of such a notice still contains an earlier message.
    @Test
    void theNoticeOfAWriteIsNoMessageOfTheCollectives() {
        try (Ranks ranks = Ranks.join(2, DEVICE)) {
            List<MeshBuffer> memory = ranks.call(mesh -> mesh.allocate("memory", 128, TIMEOUT)).stream()
                    .map(CompletableFuture::join)
                    .toList();
            List<Throwable> failures = failures(ranks, mesh -> {
                if (mesh.rank() == 1) {
                    mesh.node(0)
                            .endPoint()
                            .channels()
                            .getLast()
                            .blocking(TIMEOUT)
                            .writeNotify(
                                    memory.get(1).buffer().whole(),
                                    memory.get(1).remote(0),
                                    0,
                                    7);
                }
                mesh.barrier(TIMEOUT);
                // A rank whose part was complete learns of it in its next call.
                mesh.barrier(TIMEOUT);
            });
            assertThat(failures)
                    .hasSize(2)
                    .allSatisfy(failure ->
                            assertThat(failure).hasMessageContaining("rank 1 has sent a notice that is not valid"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCollectiveInAHandlerIsRefusedAtOnce(ThreadMode mode) {
        try (Ranks ranks = Ranks.join(2, DEVICE.options().withThreadMode(mode), Ranks.SMALL)) {
            List<Consumer<Mesh>> calls = List.of(
                    mesh -> mesh.barrier(Duration.ofSeconds(2)),
                    mesh -> mesh.collectives().allReduce(new int[10], Reduction.SUM, Duration.ofSeconds(2)),
                    mesh -> mesh.allocate("memory", 64, Duration.ofSeconds(2)));
            for (Consumer<Mesh> call : calls) {
                assertThat(thrownInHandler(ranks, call))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("in a handler would wait for itself; call it in another thread");
            }
            // It has concerned nobody else.
            ranks.run(mesh -> mesh.barrier(TIMEOUT));
            ranks.run(mesh -> mesh.allocate("memory", 64, TIMEOUT).close());
        }
    }

    @ParameterizedTest
    @EnumSource
    void aMeshThatIsClosedInAHandlerStaysOpen(ThreadMode mode) {
        try (Ranks ranks = Ranks.join(2, DEVICE.options().withThreadMode(mode), Ranks.SMALL)) {
            assertThat(thrownInHandler(ranks, Mesh::close))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("in a handler would wait for the handler; call it in another thread");
            ranks.run(mesh -> mesh.barrier(TIMEOUT));
        }
    }

    /// The exception that a call of rank 0 throws in a handler; null if it throws none.
    private static Throwable thrownInHandler(Ranks ranks, Consumer<Mesh> call) {
        Mesh mesh = ranks.mesh(0);
        CompletableFuture<Throwable> thrown = new CompletableFuture<>();
        mesh.node(1).channel().onMessage((on, message) -> {
            try {
                call.accept(mesh);
                thrown.complete(null);
            } catch (RuntimeException e) {
                thrown.complete(e);
            }
        });
        try (RdmaBuffer memory = ranks.mesh(1).session().allocate("message", 64)) {
            ranks.mesh(1).node(0).channel().blocking(TIMEOUT).send(memory.whole());
            Deadline.await("the handler", () -> {
                mesh.session().poll();
                return thrown.isDone();
            });
        }
        return thrown.join();
    }

    @Test
    void timeoutsOfCenturiesAreRefused() {
        try (Ranks ranks = Ranks.join(2, DEVICE)) {
            Mesh mesh = ranks.mesh(0);
            for (Duration timeout : List.of(
                    Duration.ZERO,
                    Duration.ofNanos(Long.MAX_VALUE),
                    Duration.ofSeconds(Long.MAX_VALUE),
                    Duration.ofSeconds(Long.MIN_VALUE))) {
                List<ThrowingCallable> calls = List.of(
                        () -> mesh.barrier(timeout),
                        () -> mesh.allocate("memory", 64, timeout),
                        () -> mesh.collectives().allReduce(new int[1], Reduction.SUM, timeout),
                        () -> Mesh.join(Rendezvous.of(0, 1, "localhost", 1), DEVICE.options(), timeout));
                assertThat(calls)
                        .allSatisfy(call -> assertThatThrownBy(call)
                                .isInstanceOf(IllegalArgumentException.class)
                                .hasMessageContaining("must be 1 ms to 24 h"));
            }
            ranks.run(each -> each.allocate("memory", 64, TIMEOUT).close());
        }
    }

    @Test
    void aRankThatDoesNotComeIsNamed() {
        try (Ranks ranks = Ranks.join(2, DEVICE)) {
            List<Throwable> failures = failures(ranks, mesh -> {
                mesh.barrier(TIMEOUT);
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
            assertThatThrownBy(() -> ranks.mesh(1).barrier(TIMEOUT))
                    .isInstanceOfAny(ClosedException.class, CollectiveMismatchException.class);
        }
    }

    @Test
    void aRankThatLeavesIsNamed() {
        try (Ranks ranks = Ranks.join(3, DEVICE)) {
            List<Throwable> failures = failures(ranks, mesh -> {
                mesh.barrier(TIMEOUT);
                if (mesh.rank() == 1) {
                    mesh.close();
                } else {
                    mesh.barrier(TIMEOUT);
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
            Thread waiting = Thread.ofPlatform().start(() -> ranks.mesh(0).barrier(TIMEOUT));
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
                ranks.mesh(1).barrier(TIMEOUT);
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
