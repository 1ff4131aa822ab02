package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.CollectiveCase.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.mesh.Mesh;
import io.rdmacomm.mesh.collective.Collectives;
import io.rdmacomm.mesh.collective.ElementType;
import io.rdmacomm.mesh.collective.Elements;
import io.rdmacomm.mesh.collective.MeshBuffer;
import io.rdmacomm.mesh.collective.Reduction;
import io.rdmacomm.testing.Allocation;
import io.rdmacomm.tests.fixture.Amount;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.LongSupplier;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The allocations and the records of collectives.
final class CollectiveCostTest {
    private static final MeshDevice DEVICE = MeshDevice.all().getFirst();
    private static final int CALLS = Amount.of(20_000, 1000);
    private static final int ROUNDS = 5;

    /// Less than a hundred bytes for each call, where a garbage of kilobytes would be a mistake. Until the compiler
    /// has seen all, there may be more. The flight recorder runs, as in many services, and records something else.
    @Test
    @Tag("slow")
    void barriersAndShortSumsAllocateNextToNothing() {
        assertThat(FlightRecorder.getFlightRecorder()).isNotNull();
        try (Ranks ranks = Ranks.join(2, DEVICE)) {
            ranks.run(mesh -> {
                Collectives collectives = mesh.collectives();
                Elements numbers = mesh.allocate("numbers", 64, TIMEOUT).elements(ElementType.LONG);
                LongSupplier allocated = Allocation.of(Thread.currentThread());
                long least = Long.MAX_VALUE;
                for (int round = 0; round < ROUNDS; round++) {
                    long before = allocated.getAsLong();
                    for (int call = 0; call < CALLS; call++) {
                        collectives.barrier(TIMEOUT);
                        collectives.allReduce(numbers, Reduction.SUM, TIMEOUT);
                    }
                    least = Math.min(least, allocated.getAsLong() - before);
                }
                assertThat(least / (2.0 * CALLS)).isLessThan(100);
            });
        }
    }

    @Test
    void eachCallIsRecorded(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("recording.jfr");
        try (Recording recording = new Recording();
                Ranks ranks = Ranks.join(2, DEVICE)) {
            recording.start();
            ranks.run(CollectiveCostTest::sumAndMeet);
            recording.stop();
            recording.dump(file);
        }
        List<RecordedEvent> events = RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals("io.rdmacomm.Collective"))
                .toList();
        assertThat(events)
                .extracting(event -> event.getString("kind") + " " + event.getLong("bytes") + " by "
                        + event.getString("algorithm") + " on " + event.getInt("rank") + " of "
                        + event.getInt("ranks"))
                .containsExactlyInAnyOrder(
                        "allocate 800 by recursive doubling on 0 of 2",
                        "allocate 800 by recursive doubling on 1 of 2",
                        "all-reduce 800 by recursive doubling on 0 of 2",
                        "all-reduce 800 by recursive doubling on 1 of 2",
                        "barrier 0 by dissemination on 0 of 2",
                        "barrier 0 by dissemination on 1 of 2");
        assertThat(events).allSatisfy(event -> {
            assertThat(event.getDuration()).isPositive();
            assertThat(event.getString("failure")).isEmpty();
        });
    }

    private static void sumAndMeet(Mesh mesh) {
        MeshBuffer memory = mesh.allocate("memory", 800, TIMEOUT);
        mesh.collectives().allReduce(memory.elements(ElementType.DOUBLE), Reduction.SUM, TIMEOUT);
        mesh.barrier(TIMEOUT);
    }
}
