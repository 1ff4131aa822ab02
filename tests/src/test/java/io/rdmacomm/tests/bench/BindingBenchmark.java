package io.rdmacomm.tests.bench;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.SendBatch;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/// The cost of calling a driver from Java: a post and the poll of its completion through `ibverbs` on a library that
/// does nothing, and the same loop in C on the same library.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
        value = 3,
        jvmArgsAppend = {"-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED"})
public class BindingBenchmark {
    private static final int ROUNDS = 1_000_000;

    private NullVerbs library;
    private Arena arena;
    private Context context;
    private CompletionQueue queue;
    private QueuePair queuePair;
    private Completions completions;
    private SendBatch write;

    @Setup
    public void open() throws IOException, InterruptedException {
        library = new NullVerbs();
        arena = Arena.ofShared();
        context = Rdma.open(NullVerbs.DEVICE);
        ProtectionDomain domain = context.allocateProtectionDomain();
        queue = context.createCompletionQueue(
                CompletionQueueOptions.ofCapacity(1024).withSingleThreaded(true));
        queuePair = domain.createQueuePair(QueuePairOptions.reliable(queue).withSingleThreaded(true));
        queuePair.connect(queuePair.info());
        MemoryRegion region = domain.allocate(4096, AccessFlag.allRemote());
        completions = Completions.create(arena, 16);
        write = SendBatch.create(arena, 1, 1)
                .write(1, region.address() + 64, region.remoteKey())
                .with(region, 0, 8)
                .signaled();
    }

    @TearDown
    public void close() throws IOException {
        context.close();
        arena.close();
        library.close();
    }

    @Benchmark
    public int java() {
        queuePair.post(write);
        int count = 0;
        while (count < 1) {
            count += queue.poll(completions);
        }
        return count;
    }

    @Benchmark
    @OperationsPerInvocation(ROUNDS)
    public double c() {
        return library.loop(ROUNDS);
    }
}
