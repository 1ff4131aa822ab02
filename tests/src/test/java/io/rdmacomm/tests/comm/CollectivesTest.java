package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.CollectiveCase.TIMEOUT;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import io.rdmacomm.mesh.Mesh;
import io.rdmacomm.mesh.collective.Algorithm;
import io.rdmacomm.mesh.collective.AlgorithmChoice;
import io.rdmacomm.mesh.collective.CollectiveKind;
import io.rdmacomm.mesh.collective.CollectiveOptions;
import io.rdmacomm.mesh.collective.ElementType;
import io.rdmacomm.mesh.collective.Elements;
import io.rdmacomm.mesh.collective.MeshBuffer;
import io.rdmacomm.mesh.collective.Reduction;
import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.Deadline;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/// Every collective by every algorithm gives what a plain computation gives.
final class CollectivesTest {
    private static Stream<Arguments> meshes() {
        return MeshDevice.all().stream()
                .flatMap(device -> Stream.of(1, 2, 3, 4, 5, 7, 8, 16).map(size -> Arguments.of(device, size)));
    }

    private static List<MeshDevice> devices() {
        return MeshDevice.all();
    }

    @Tag("slow")
    @ParameterizedTest(name = "{1} ranks on {0}")
    @MethodSource("meshes")
    void resultsAreThoseOfAPlainComputation(MeshDevice device, int size) {
        long seed = System.nanoTime();
        System.out.println(size + " ranks on " + device + ": seed " + seed);
        List<CollectiveCase> cases = CollectiveCase.some(new Random(seed), size, Amount.of(1000, 80));
        try (Ranks ranks = Ranks.join(size, device)) {
            ranks.run(mesh -> CollectiveCase.runAll(cases, mesh));
        }
    }

    /// Numbers that make rounding depend on the order of additions.
    @ParameterizedTest
    @MethodSource("devices")
    void allRanksHaveTheSameBitsEachTime(MeshDevice device) {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        for (int size : new int[] {3, 6}) {
            try (Ranks ranks = Ranks.join(size, device)) {
                for (Algorithm algorithm : CollectiveKind.ALL_REDUCE.algorithms()) {
                    List<byte[]> results = new ArrayList<>();
                    for (int time = 0; time < 3; time++) {
                        ranks.call(mesh -> sum(mesh, algorithm, seed)).forEach(result -> results.add(result.join()));
                    }
                    assertThat(results).hasSize(3 * size).allMatch(bits -> Arrays.equals(bits, results.getFirst()));
                }
            }
        }
    }

    private static byte[] sum(Mesh mesh, Algorithm algorithm, long seed) {
        Random random = new Random(seed + mesh.rank());
        double[] numbers = random.doubles(2000)
                .map(number -> (number - 0.5) * Math.scalb(1.0, random.nextInt(80)))
                .toArray();
        Elements elements = Elements.of(numbers);
        mesh.collectives().with(AlgorithmChoice.always(algorithm)).allReduce(elements, Reduction.SUM, TIMEOUT);
        return Numbers.bytes(elements);
    }

    /// By the thresholds, with the usual slots, up to a few megabytes.
    @ParameterizedTest
    @MethodSource("devices")
    void allLengthsWorkWithTheUsualOptions(MeshDevice device) {
        try (Ranks ranks =
                Ranks.join(3, device.options(), CollectiveOptions.defaults().withMessageBytes(512))) {
            ranks.run(mesh -> {
                int largest = Amount.of(1 << 19, 1 << 17);
                MeshBuffer memory = mesh.allocate("memory", (long) largest * Double.BYTES, TIMEOUT);
                for (int count = 1; count <= largest; count *= 2) {
                    Elements data = memory.elements(ElementType.DOUBLE, 0, count);
                    for (int i = 0; i < count; i++) {
                        data.segment().setAtIndex(JAVA_DOUBLE, i, mesh.rank() + i);
                    }
                    mesh.collectives().allReduce(data, Reduction.SUM, TIMEOUT);
                    for (int i = 0; i < count; i++) {
                        assertThat(data.segment().getAtIndex(JAVA_DOUBLE, i)).isEqualTo(3.0 * i + 3);
                    }
                }
            });
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @EnumSource(ThreadMode.class)
    void allThreadModesWork(ThreadMode mode) {
        for (WorkMode work : WorkMode.values()) {
            MeshDevice device = MeshDevice.all().getFirst();
            try (Ranks ranks =
                    Ranks.join(3, device.options().withThreadMode(mode).withWorkMode(work), Ranks.SMALL)) {
                List<CollectiveCase> cases = CollectiveCase.some(new Random(work.hashCode()), 3, 60);
                ranks.run(mesh -> CollectiveCase.runAll(cases, mesh));
            }
        }
    }

    @Test
    void nobodyLeavesABarrierBeforeAllHaveCome() {
        MeshDevice device = MeshDevice.all().getFirst();
        try (Ranks ranks = Ranks.join(5, device)) {
            AtomicInteger come = new AtomicInteger();
            ranks.run(mesh -> {
                for (int round = 1; round <= 200; round++) {
                    come.incrementAndGet();
                    mesh.barrier(TIMEOUT);
                    assertThat(come.get()).isGreaterThanOrEqualTo(5 * round);
                }
            });
        }
    }

    /// The last notices of a rank that has left still count.
    @ParameterizedTest
    @EnumSource(ThreadMode.class)
    void ranksMayLeaveRightAfterABarrier(ThreadMode mode) {
        MeshDevice device = MeshDevice.all().getFirst();
        for (int time = 0; time < Amount.of(40, 5); time++) {
            try (Ranks ranks = Ranks.join(3, device.options().withThreadMode(mode), Ranks.SMALL)) {
                ranks.run(mesh -> {
                    for (int round = 0; round < 7; round++) {
                        mesh.barrier(TIMEOUT);
                    }
                    mesh.close();
                });
            }
        }
    }

    @Test
    void arraysAreReducedInPlace() {
        MeshDevice device = MeshDevice.all().getFirst();
        try (Ranks ranks = Ranks.join(2, device)) {
            ranks.run(mesh -> {
                int[] ints = {mesh.rank(), 7};
                long[] longs = {mesh.rank() + 1, -7};
                float[] floats = {mesh.rank(), 0.5f};
                double[] doubles = {mesh.rank(), Double.NaN};
                mesh.collectives().allReduce(ints, Reduction.MAX, TIMEOUT);
                mesh.collectives().allReduce(longs, Reduction.PRODUCT, TIMEOUT);
                mesh.collectives().allReduce(floats, Reduction.SUM, TIMEOUT);
                mesh.collectives().allReduce(doubles, Reduction.MIN, TIMEOUT);
                assertThat(ints).containsExactly(1, 7);
                assertThat(longs).containsExactly(2, 49);
                assertThat(floats).containsExactly(1, 1);
                assertThat(doubles).containsExactly(0, Double.NaN);
            });
        }
    }

    @Test
    void buffersAreForOneSidedOperationsToo() {
        MeshDevice device = MeshDevice.all().getFirst();
        try (Ranks ranks = Ranks.join(3, device)) {
            ranks.run(mesh -> {
                MeshBuffer board = mesh.allocate("board", 64, TIMEOUT);
                MeshBuffer again = mesh.allocate("second", 8, TIMEOUT);
                int next = (mesh.rank() + 1) % 3;
                board.segment().set(JAVA_INT, 32, mesh.rank());
                mesh.barrier(TIMEOUT);
                mesh.node(next).channel().blocking(TIMEOUT).write(board.buffer().slice(32, 4), board.remote(next), 0);
                mesh.node(next).channel().blocking(TIMEOUT).read(board.buffer().slice(8, 4), board.remote(next), 32);
                mesh.barrier(TIMEOUT);
                assertThat(board.segment().get(JAVA_INT, 8)).isEqualTo(next);
                assertThat(board.segment().get(JAVA_INT, 0)).isEqualTo((mesh.rank() + 2) % 3);
                mesh.barrier(TIMEOUT);
                again.close();
                assertThatThrownBy(() -> mesh.collectives()
                                .allReduce(again.elements(ElementType.INT, 0, 0), Reduction.SUM, TIMEOUT))
                        .isInstanceOf(RuntimeException.class);
            });
        }
    }

    /// The ranks may use different buffers, so one may still write to a buffer that it has closed itself.
    @Test
    void aBufferThatOneRankHasClosedStaysUsefulToTheOthers() {
        MeshDevice device = MeshDevice.all().getFirst();
        try (Ranks ranks = Ranks.join(3, device)) {
            ranks.run(mesh -> {
                MeshBuffer first = mesh.allocate("first", 4000, TIMEOUT);
                MeshBuffer second = mesh.allocate("second", 4000, TIMEOUT);
                if (mesh.rank() == 0) {
                    first.close();
                }
                Elements data = (mesh.rank() == 0 ? second : first).elements(ElementType.INT);
                for (Algorithm algorithm : CollectiveKind.ALL_REDUCE.algorithms()) {
                    for (int i = 0; i < data.count(); i++) {
                        data.segment().setAtIndex(JAVA_INT, i, mesh.rank() + i);
                    }
                    mesh.collectives().with(AlgorithmChoice.always(algorithm)).allReduce(data, Reduction.SUM, TIMEOUT);
                    for (int i = 0; i < data.count(); i++) {
                        assertThat(data.segment().getAtIndex(JAVA_INT, i)).isEqualTo(3 + 3 * i);
                    }
                }
            });
        }
    }

    @Test
    void closedBuffersAreForgotten() {
        MeshDevice device = MeshDevice.all().getFirst();
        try (Ranks ranks = Ranks.join(2, device)) {
            List<WeakReference<MeshBuffer>> closed = new ArrayList<>();
            for (CompletableFuture<WeakReference<MeshBuffer>> result : ranks.call(CollectivesTest::usedAndClosed)) {
                closed.add(result.join());
            }
            Deadline.await("the end of closed buffers", () -> {
                System.gc();
                return closed.stream().allMatch(buffer -> buffer.refersTo(null));
            });
        }
    }

    private static WeakReference<MeshBuffer> usedAndClosed(Mesh mesh) {
        try (MeshBuffer memory = mesh.allocate("memory", 4000, TIMEOUT)) {
            mesh.collectives().allReduce(memory.elements(ElementType.INT), Reduction.SUM, TIMEOUT);
            mesh.barrier(TIMEOUT);
            return new WeakReference<>(memory);
        }
    }

    @Test
    void argumentsThatDoNotFitAreRejectedBeforeAnythingIsSent() {
        MeshDevice device = MeshDevice.all().getFirst();
        try (Ranks ranks = Ranks.join(2, device)) {
            ranks.run(mesh -> {
                Elements three = Elements.of(new int[3]);
                Elements four = Elements.of(new int[4]);
                var collectives = mesh.collectives();
                assertThatThrownBy(() -> collectives.allReduce(three, four, Reduction.SUM, TIMEOUT))
                        .isInstanceOf(IllegalArgumentException.class);
                assertThatThrownBy(() -> collectives.allReduce(Elements.of(new byte[4]), Reduction.SUM, TIMEOUT))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("bytes cannot be reduced");
                assertThatThrownBy(() -> collectives.allGather(three, four, TIMEOUT))
                        .isInstanceOf(IllegalArgumentException.class);
                assertThatThrownBy(() -> collectives.allToAll(three, Elements.of(new int[3]), TIMEOUT))
                        .isInstanceOf(IllegalArgumentException.class);
                assertThatThrownBy(() -> collectives.allToAll(four, four, TIMEOUT))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("overlap");
                assertThatThrownBy(() -> collectives.broadcast(four, 2, TIMEOUT))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("root is 2");
                collectives.barrier(TIMEOUT);
            });
        }
    }
}
