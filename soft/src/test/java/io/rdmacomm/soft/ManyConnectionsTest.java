package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// A thousand connections over TCP in one process, both ends of each: what they cost. How long they take to set
/// up is said and not judged.
@Tag("slow")
class ManyConnectionsTest {
    private static final int COUNT = 1000;
    private static final int ROUNDS = 2;
    private static final long MOST_BYTES = 64 * 1024;
    private static final long PATIENCE_NANOS = 60_000_000_000L;
    private static final ConnectionOptions PATIENT =
            ConnectionOptions.defaults().withTimeout(20, 7);

    @Test
    void aThousandConnectionsAreCheap() throws IOException {
        SoftDevice device = new SoftDevice("soft", DeviceSettings.parse("tcp0=127.0.0.1?sharedMemory=false"));
        try (Arena arena = Arena.ofShared();
                SoftContext here = (SoftContext) device.open();
                SoftContext there = (SoftContext) device.open()) {
            Completions completions = Completions.create(arena, COUNT);
            ProtectionDomain domain = here.allocateProtectionDomain();
            ProtectionDomain otherDomain = there.allocateProtectionDomain();
            CompletionQueue queue = here.createCompletionQueue(CompletionQueueOptions.ofCapacity(2 * COUNT));
            CompletionQueue otherQueue = there.createCompletionQueue(CompletionQueueOptions.ofCapacity(2 * COUNT));
            connect(arena, domain, queue, otherDomain, otherQueue, completions, 20);
            int threads = Thread.getAllStackTraces().size();
            long residentEach = Long.MAX_VALUE;
            long heapEach = Long.MAX_VALUE;
            // The heap grows by more than is kept, the second time less than the first.
            for (int round = 0; round < ROUNDS; round++) {
                long heap = heapBytes();
                long resident = residentBytes();
                long start = System.nanoTime();
                connect(arena, domain, queue, otherDomain, otherQueue, completions, COUNT);
                double seconds = (System.nanoTime() - start) / 1e9;
                residentEach = Math.min(residentEach, (residentBytes() - resident) / (2 * COUNT));
                heapEach = Math.min(heapEach, (heapBytes() - heap) / (2 * COUNT));
                System.out.printf(
                        "ManyConnectionsTest: %d connections in %.2f s; each queue pair %d bytes resident, %d of the heap%n",
                        COUNT, seconds, residentEach, heapEach);
            }
            assertThat(Thread.getAllStackTraces()).hasSizeLessThanOrEqualTo(threads);
            assertThat(residentEach).as("resident bytes of a queue pair").isLessThan(MOST_BYTES);
            assertThat(heapEach).as("bytes of the heap of a queue pair").isLessThan(MOST_BYTES);
        }
    }

    /// Makes connections, and has each carry one empty WRITE.
    private static void connect(
            Arena arena,
            ProtectionDomain domain,
            CompletionQueue queue,
            ProtectionDomain otherDomain,
            CompletionQueue otherQueue,
            Completions completions,
            int count) {
        List<QueuePair> pairs = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            QueuePair one = domain.createQueuePair(options(queue));
            QueuePair other = otherDomain.createQueuePair(options(otherQueue));
            one.connect(other.info(), PATIENT);
            other.connect(one.info(), PATIENT);
            pairs.add(one);
        }
        SendBatch batch = SendBatch.create(arena, 1, 1).write(1, 0, 0).signaled();
        for (QueuePair pair : pairs) {
            assertThat(pair.post(batch)).isEqualTo(1);
        }
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        int done = 0;
        while (done < count) {
            int found = queue.poll(completions);
            for (int i = 0; i < found; i++) {
                assertThat(completions.status(i))
                        .as("WRITE %d, vendor error %d", done + i, completions.vendorError(i))
                        .isEqualTo(WorkStatus.SUCCESS);
            }
            done += found;
            assertThat(System.nanoTime())
                    .as("%d of %d WRITEs ended", done, count)
                    .isLessThan(deadline);
        }
    }

    /// Short queues: how long they are is the user's choice, and what that costs is the user's memory.
    private static QueuePairOptions options(CompletionQueue queue) {
        return QueuePairOptions.reliable(queue).withSizes(QueueSizes.defaults().withDepth(16, 16));
    }

    private static long heapBytes() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    /// What the process has in memory, whatever it is for: the heap, buffers, shared memory (proc_pid_status(5)).
    private static long residentBytes() throws IOException {
        System.gc();
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
            }
        }
        throw new AssertionError("no VmRSS in /proc/self/status");
    }
}
