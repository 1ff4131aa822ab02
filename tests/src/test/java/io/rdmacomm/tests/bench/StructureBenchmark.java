package io.rdmacomm.tests.bench;

import io.rdmacomm.soft.mapped.CompletionFields;
import io.rdmacomm.soft.mapped.CompletionProducer;
import io.rdmacomm.soft.mapped.CompletionRing;
import io.rdmacomm.soft.mapped.ControlFile;
import io.rdmacomm.soft.mapped.ShmDirectory;
import io.rdmacomm.soft.memory.AccessFault;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.LocalKeys;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.memory.LocalRegion;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.spi.CompletionLayout;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/// The structures in shared memory that every operation of the software device passes: a completion through a ring, an
/// empty ring, and the key of a region.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 3, jvmArgsAppend = "-XX:+UseSerialGC")
public class StructureBenchmark {
    private static final int DOMAIN = 3;
    private static final int ADDRESS = 4096;
    private static final int BYTES = 4096;

    private final CompletionFields fields = new CompletionFields();
    private final ElementList elements = new ElementList(1);
    private Arena arena;
    private ShmDirectory directory;
    private ControlFile file;
    private CompletionRing ring;
    private CompletionProducer producer;
    private MemorySegment completion;
    private LocalKeys keys;
    private int key;

    @Setup
    public void open() throws IOException {
        arena = Arena.ofShared();
        directory = ShmDirectory.claim();
        file = ControlFile.create(directory, 1, 2);
        ring = CompletionRing.create(file, 64, 7, false);
        producer = ring.producer(DOMAIN);
        fields.set(1, 0, 0, 0, 1);
        completion = arena.allocate(CompletionLayout.BYTES, 8);
        LocalMemory memory = new LocalMemory(file);
        key = memory.allocateKey();
        MemorySegment target = arena.allocate(BYTES, 64);
        memory.add(new LocalRegion(key, DOMAIN, AccessFlag.REMOTE_WRITE.bit(), ADDRESS, target, null));
        keys = new LocalKeys(memory, DOMAIN, 1);
    }

    @TearDown
    public void close() throws IOException {
        file.close();
        directory.close();
        arena.close();
    }

    @Benchmark
    public int pushAndPoll() {
        producer.push(file.memory(), 0, fields);
        return ring.poll(completion, 0, 1);
    }

    @Benchmark
    public int pollEmptyRing() {
        return ring.poll(completion, 0, 1);
    }

    @Benchmark
    public @Nullable AccessFault lookUpKey() {
        elements.clear();
        return keys.resolve(key, ADDRESS + 64, 64, AccessFlag.REMOTE_WRITE.bit(), elements);
    }
}
