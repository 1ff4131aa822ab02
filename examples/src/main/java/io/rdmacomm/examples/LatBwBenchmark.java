package io.rdmacomm.examples;

import io.rdmacomm.comm.Admission;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.CompletionHandler;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.WorkStatus;
import java.time.Duration;
import java.util.Arrays;

/// A minimal benchmark: the latency of READs and the bandwidth of WRITEs, while the server does nothing.
/// `rdmacomm bench` measures the rest.
///
/// ```
/// java -cp rdmacomm.jar io.rdmacomm.examples.LatBwBenchmark [OPERATIONS]
/// ```
public final class LatBwBenchmark {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int BYTES = 1 << 20;
    private static final int WARM_UP_READS = 100_000;
    private static final int WARM_UP_WRITES = 100;

    private final RdmaChannel channel;
    private final RemoteBuffer remote;
    private final BufferSlice small;
    private final BufferSlice large;

    /// One handler for all operations, so that none is allocated per operation.
    private final Counter counter = new Counter();

    private LatBwBenchmark(RdmaChannel channel, RdmaBuffer local, RemoteBuffer remote) {
        this.channel = channel;
        this.remote = remote;
        this.small = local.slice(0, 8);
        this.large = local.whole();
    }

    /// Runs both sides in this program.
    public static void main(String[] arguments) {
        int operations = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 20_000;
        // CALLER: progress happens in poll(), on the thread that measures, instead of a thread of the library.
        SessionOptions options =
                SessionOptions.defaults().withAddress("localhost", 0).withThreadMode(ThreadMode.CALLER);
        try (ServerSession server = ServerSession.listen(options);
                ClientSession client = ClientSession.connect(options.withPort(server.port()))) {
            EndPoint served = server.accept(TIMEOUT);
            served.announce(server.allocate("target", BYTES), AccessFlag.allRemote());
            RemoteBuffer remote = client.endPoint().peerBuffer("target", TIMEOUT);
            RdmaBuffer local = client.allocate("local", BYTES);
            LatBwBenchmark benchmark = new LatBwBenchmark(client.endPoint().channel(0), local, remote);
            benchmark.warmUp();
            benchmark.readLatency(operations);
            benchmark.writeBandwidth(operations / 10 + 1);
        }
    }

    /// The JVM compiles code that runs often. Until then an operation takes several times as long.
    private void warmUp() {
        for (int i = 0; i < WARM_UP_READS; i++) {
            read();
        }
        write(WARM_UP_WRITES);
    }

    private void readLatency(int operations) {
        long[] nanos = new long[operations];
        for (int i = 0; i < operations; i++) {
            long begin = System.nanoTime();
            read();
            nanos[i] = System.nanoTime() - begin;
        }
        Arrays.sort(nanos);
        System.out.printf(
                "READ of 8 bytes: p50 %.2f us, p99 %.2f us%n",
                nanos[operations / 2] / 1000.0, nanos[operations * 99 / 100] / 1000.0);
    }

    private void read() {
        while (channel.tryRead(small, remote, 0, counter, 0) != Admission.ACCEPTED) {
            waitForRoom();
        }
        awaitCompletions(counter.completed + 1);
    }

    private void writeBandwidth(int operations) {
        long begin = System.nanoTime();
        write(operations);
        long nanos = System.nanoTime() - begin;
        System.out.printf("WRITE of 1 MiB: %.1f Gbit/s%n", 8.0 * BYTES * operations / nanos);
    }

    private void write(int operations) {
        long target = counter.completed + operations;
        for (int i = 0; i < operations; i++) {
            while (channel.tryWrite(large, remote, 0, counter, 0) != Admission.ACCEPTED) {
                waitForRoom();
            }
        }
        awaitCompletions(target);
    }

    /// Completions make room in the send window. A channel that has failed accepts no more operations.
    private void waitForRoom() {
        channel.checkOpen();
        channel.poll();
    }

    private void awaitCompletions(long target) {
        while (counter.completed < target) {
            channel.poll();
        }
        if (counter.failed > 0) {
            throw new IllegalStateException(counter.failed + " operations failed");
        }
    }

    private static final class Counter implements CompletionHandler {
        private long completed;
        private long failed;

        @Override
        public void onCompletion(RdmaChannel on, long context, WorkStatus status, long result) {
            completed++;
            if (status != WorkStatus.SUCCESS) {
                failed++;
            }
        }
    }
}
