package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A thousand connections over TCP in one process, both ends of each: what they cost. How long they take to set
/// up is said and not judged.
///
/// It is a separate process whose heap is in memory from the start: a heap that grows takes more than is kept,
/// by as much as its collector likes. It has only the compiler that needs little memory itself.
@Tag("slow")
class ManyConnectionsTest {
    private static final int COUNT = 1000;
    private static final int ROUNDS = 2;
    private static final long MOST_BYTES = 64 * 1024;
    private static final long TIMEOUT_NANOS = 60_000_000_000L;
    private static final ConnectionOptions PATIENT =
            ConnectionOptions.defaults().withTimeout(Duration.ofSeconds(4), 7);

    @Test
    @Timeout(240)
    void aThousandConnectionsAreCheap() throws Exception {
        Process process = OtherJvm.running(
                        Program.class,
                        "-XX:+UseSerialGC",
                        "-Xms512m",
                        "-Xmx512m",
                        "-XX:+AlwaysPreTouch",
                        "-XX:TieredStopAtLevel=1")
                .start();
        try (BufferedReader answers = process.inputReader()) {
            long most = 0;
            for (int round = 0; round < ROUNDS; round++) {
                Cost cost = Cost.parse(answers.readLine());
                System.out.printf(
                        "ManyConnectionsTest: %d connections in %.2f s; each queue pair %d bytes, %d of the heap%n",
                        COUNT, cost.nanos / 1e9, cost.bytes(), cost.heap);
                assertThat(cost.threads).as("threads that were started").isZero();
                most = Math.max(most, cost.bytes());
            }
            assertThat(process.waitFor()).isZero();
            assertThat(most).as("bytes of a queue pair").isPositive().isLessThan(MOST_BYTES);
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    /// The costs of a round.
    ///
    /// @param threads how many were started
    /// @param resident bytes in memory beside the heap, for each queue pair
    /// @param heap bytes of the heap, for each queue pair
    private record Cost(long nanos, long threads, long resident, long heap) {
        long bytes() {
            return resident + heap;
        }

        String print() {
            return nanos + " " + threads + " " + resident + " " + heap;
        }

        static Cost parse(@Nullable String line) {
            assertThat(line).as("what the process says").isNotNull();
            long[] numbers =
                    Arrays.stream(line.split(" ")).mapToLong(Long::parseLong).toArray();
            return new Cost(numbers[0], numbers[1], numbers[2], numbers[3]);
        }
    }

    /// Connects a few, and then a thousand for each round, and says what these cost.
    static final class Program {
        public static void main(String[] arguments) throws IOException {
            Device device = Soft.device("tcp0=127.0.0.1?sharedMemory=false");
            try (Arena arena = Arena.ofShared();
                    Context here = device.open();
                    Context there = device.open()) {
                Completions completions = Completions.create(arena, COUNT);
                ProtectionDomain domain = here.allocateProtectionDomain();
                ProtectionDomain otherDomain = there.allocateProtectionDomain();
                CompletionQueue queue = here.createCompletionQueue(CompletionQueueOptions.ofCapacity(2 * COUNT));
                CompletionQueue otherQueue = there.createCompletionQueue(CompletionQueueOptions.ofCapacity(2 * COUNT));
                connect(arena, domain, queue, otherDomain, otherQueue, completions, 20);
                for (int round = 0; round < ROUNDS; round++) {
                    int threads = Thread.getAllStackTraces().size();
                    long heap = heapBytes();
                    long resident = residentBytes();
                    long start = System.nanoTime();
                    connect(arena, domain, queue, otherDomain, otherQueue, completions, COUNT);
                    long nanos = System.nanoTime() - start;
                    System.out.println(new Cost(
                                    nanos,
                                    Math.max(0, Thread.getAllStackTraces().size() - threads),
                                    (residentBytes() - resident) / (2 * COUNT),
                                    (heapBytes() - heap) / (2 * COUNT))
                            .print());
                }
            }
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
        long deadline = System.nanoTime() + TIMEOUT_NANOS;
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

    /// All memory of the process: the heap, which does not change, buffers, shared memory
    /// (proc_pid_status(5)).
    private static long residentBytes() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
            }
        }
        throw new AssertionError("no VmRSS in /proc/self/status");
    }
}
