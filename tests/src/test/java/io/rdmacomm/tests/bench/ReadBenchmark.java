package io.rdmacomm.tests.bench;

import io.rdmacomm.comm.BlockingChannel;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.Read;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.verbs.AccessFlag;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/// The rate of READs by blocking calls, one by one and as a list, of memory that the peer has allocated and of a file
/// that it has mapped. Both sessions are in one process, over shared memory or TCP. The READs go through 64 MiB.
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 3, jvmArgsAppend = "-XX:+UseSerialGC")
public class ReadBenchmark {
    private static final int READS = 1000;
    private static final int MIB = 1 << 20;
    private static final long SOURCE = 64L * MIB;
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    @Param({"memory", "file"})
    private String source;

    /// The length of each READ.
    @Param({"64", "65536"})
    private int bytes;

    @Param({"true", "false"})
    private boolean sharedMemory;

    private @Nullable Path path;
    private ServerSession server;
    private ClientSession client;
    private BlockingChannel channel;
    private BufferSlice[] targets;
    private RemoteBuffer remote;
    private final List<Read> list = new ArrayList<>();

    @Setup(Level.Trial)
    public void open() throws IOException {
        System.setProperty("rdmacomm.soft.devices", "soft0=127.0.0.1?sharedMemory=" + sharedMemory);
        SessionOptions options = SessionOptions.defaults().withDevice("soft0");
        server = ServerSession.listen(options.withAddress("127.0.0.1", 0));
        client = ClientSession.connect(
                options.withThreadMode(ThreadMode.CALLER).withAddress("127.0.0.1", server.port()));
        EndPoint there = server.accept(TIMEOUT);
        there.announce(source(), Set.of(AccessFlag.REMOTE_READ));
        remote = client.endPoint().peerBuffer("source", TIMEOUT);
        channel = client.endPoint().channel(0).blocking(TIMEOUT);
        // The targets stay in the cache, so that the source makes the difference.
        RdmaBuffer copy = client.allocate("copy", (long) bytes * Math.min(READS, 4 * MIB / bytes));
        targets = new BufferSlice[READS];
        for (int i = 0; i < READS; i++) {
            targets[i] = copy.slice((long) i * bytes % copy.length(), bytes);
        }
        // The targets of a list must not overlap.
        RdmaBuffer all = client.allocate("all", (long) bytes * READS);
        for (int i = 0; i < READS; i++) {
            list.add(new Read(all.slice((long) i * bytes, bytes), remote, offset(i)));
        }
    }

    private RdmaBuffer source() throws IOException {
        if (source.equals("memory")) {
            RdmaBuffer memory = server.allocate("source", SOURCE);
            memory.segment().fill((byte) 1);
            return memory;
        }
        Path made = Files.createTempFile("rdmacomm-read", "");
        path = made;
        byte[] content = new byte[(int) SOURCE];
        Arrays.fill(content, (byte) 1);
        Files.write(made, content);
        try (FileChannel file = FileChannel.open(made, StandardOpenOption.READ)) {
            return server.map("source", file, 0, SOURCE, Set.of(AccessFlag.REMOTE_READ));
        }
    }

    private long offset(int read) {
        return (long) read * bytes % SOURCE;
    }

    @TearDown
    public void close() throws IOException {
        client.close();
        server.close();
        Path made = path;
        if (made != null) {
            Files.delete(made);
        }
    }

    @Benchmark
    @OperationsPerInvocation(READS)
    public void single() {
        for (int i = 0; i < READS; i++) {
            channel.read(targets[i], remote, offset(i));
        }
    }

    @Benchmark
    @OperationsPerInvocation(READS)
    public void list() {
        channel.read(list);
    }
}
