package io.rdmacomm.tests.bench;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.counters.ChannelCounters;
import io.rdmacomm.verbs.statistics.ChannelCounter;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/// The three counters that an operation moves, in an array and in a mapped file: see decision 35.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class CounterBenchmark {
    private static final int BYTES = 4096;

    private final ChannelCounters counters = new ChannelCounters();
    private Arena arena;
    private MemorySegment mapped;
    private Path file;

    @Setup
    public void map() throws IOException {
        file = Files.createTempFile(Path.of("/dev/shm"), "rdmacomm-bench-", ".counters");
        Files.write(file, new byte[BYTES]);
        arena = Arena.ofShared();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            mapped = channel.map(MapMode.READ_WRITE, 0, BYTES, arena);
        }
    }

    @TearDown
    public void unmap() throws IOException {
        arena.close();
        Files.delete(file);
    }

    @Benchmark
    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    public void array() {
        counters.count(ChannelCounter.OPERATIONS);
        counters.add(ChannelCounter.BYTES_OUT, 64);
        counters.count(ChannelCounter.COMPLETED);
    }

    @Benchmark
    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    public void mappedFile() {
        add(0, 1);
        add(8, 64);
        add(16, 1);
    }

    private void add(long at, long value) {
        mapped.set(JAVA_LONG, at, mapped.get(JAVA_LONG, at) + value);
    }
}
