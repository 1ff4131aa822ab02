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
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
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

/// The cost of a post and the poll of its completion, on a queue pair of the software device that is connected to
/// itself: no other process and no waiting, only the library.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 3, jvmArgsAppend = "-XX:+UseSerialGC")
public class PostPollBenchmark {
    private static final int CHAIN = 32;

    private Arena arena;
    private Context context;
    private CompletionQueue queue;
    private QueuePair queuePair;
    private Completions completions;
    private SendBatch write;
    private SendBatch read;
    private SendBatch add;
    private SendBatch send;
    private SendBatch chain;
    private MemoryRegion region;
    private long target;
    private int key;
    private ReceiveBatch receive;

    @Setup
    public void open() {
        arena = Arena.ofShared();
        context = Rdma.open("soft0");
        ProtectionDomain domain = context.allocateProtectionDomain();
        queue = context.createCompletionQueue(
                CompletionQueueOptions.ofCapacity(1024).withSingleThreaded(true));
        queuePair = domain.createQueuePair(QueuePairOptions.reliable(queue));
        queuePair.connect(queuePair.info());
        region = domain.allocate(1 << 20, AccessFlag.allRemote());
        target = region.address() + 4096;
        key = region.remoteKey();
        completions = Completions.create(arena, 16);
        write = SendBatch.create(arena, 1, 1)
                .write(1, target, key)
                .with(region, 0, 8)
                .signaled();
        read = SendBatch.create(arena, 1, 1)
                .read(1, target, key)
                .with(region, 0, 8)
                .signaled();
        add = SendBatch.create(arena, 1, 1)
                .fetchAndAdd(1, target, key, 1)
                .with(region, 0, 8)
                .signaled();
        send = SendBatch.create(arena, 1, 1).send(1).with(region, 0, 8).signaled();
        receive = ReceiveBatch.create(arena, 1, 1).receive(2).with(region, 8192, 64);
        chain = SendBatch.create(arena, CHAIN, 1);
        fill(chain);
    }

    @TearDown
    public void close() {
        context.close();
        arena.close();
    }

    @Benchmark
    public int write() {
        return postAndPoll(write, 1);
    }

    @Benchmark
    public int read() {
        return postAndPoll(read, 1);
    }

    @Benchmark
    public int fetchAndAdd() {
        return postAndPoll(add, 1);
    }

    @Benchmark
    public int sendAndReceive() {
        queuePair.post(receive);
        return postAndPoll(send, 2);
    }

    @Benchmark
    @OperationsPerInvocation(CHAIN)
    public int writeInAChain() {
        return postAndPoll(chain, 1);
    }

    @Benchmark
    public int fillAndWrite() {
        write.clear().write(1, target, key).with(region, 0, 8).signaled();
        return postAndPoll(write, 1);
    }

    @Benchmark
    @OperationsPerInvocation(CHAIN)
    public int fillAndWriteInAChain() {
        fill(chain);
        return postAndPoll(chain, 1);
    }

    private void fill(SendBatch batch) {
        batch.clear();
        for (int i = 0; i < CHAIN; i++) {
            batch.write(i, target + 8L * i, key).with(region, 0, 8);
        }
        batch.signaled();
    }

    private int postAndPoll(SendBatch batch, int expected) {
        queuePair.post(batch);
        return poll(expected);
    }

    private int poll(int expected) {
        int count = 0;
        while (count < expected) {
            count += queue.poll(completions);
        }
        return count;
    }
}
