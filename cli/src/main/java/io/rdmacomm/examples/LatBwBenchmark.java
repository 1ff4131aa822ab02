package io.rdmacomm.examples;

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
import io.rdmacomm.verbs.WorkStatus;
import java.time.Duration;
import java.util.Arrays;

/// The smallest measurement that means something: the latency of a READ and the bandwidth of WRITEs into the
/// memory of a server that does nothing meanwhile. `rdmacomm bench` does the rest.
///
/// ```
/// java -cp rdmacomm.jar io.rdmacomm.examples.LatBwBenchmark [OPERATIONS]
/// ```
public final class LatBwBenchmark {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int BYTES = 1 << 20;

    private final RdmaChannel channel;
    private final RemoteBuffer remote;
    private final BufferSlice small;
    private final BufferSlice large;

    /// One handler for all operations: it is not made anew for each, and counts what has ended.
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
        // CALLER: the thread that measures makes the progress itself, and shares its processor with nobody.
        SessionOptions options =
                SessionOptions.defaults().withAddress("localhost", 0).withThreadMode(ThreadMode.CALLER);
        try (ServerSession server = ServerSession.listen(options);
                ClientSession client = ClientSession.connect(options.withPort(server.port()))) {
            EndPoint served = server.accept(PATIENCE);
            served.announce(server.allocate("target", BYTES, 1));
            RemoteBuffer remote = client.endPoint().peerBuffer("target", PATIENCE);
            RdmaBuffer local = client.allocate("local", BYTES, 1);
            LatBwBenchmark benchmark = new LatBwBenchmark(client.endPoint().channel(0), local, remote);
            benchmark.readLatency(operations);
            benchmark.readLatency(operations);
            benchmark.writeBandwidth(operations / 10 + 1);
        }
    }

    private void readLatency(int operations) {
        long[] nanos = new long[operations];
        for (int i = 0; i < operations; i++) {
            long begin = System.nanoTime();
            while (!channel.tryRead(small, remote, 0, counter, i).isAccepted()) {
                channel.checkOpen();
                channel.poll();
            }
            awaitDone(counter.ended + 1);
            nanos[i] = System.nanoTime() - begin;
        }
        Arrays.sort(nanos);
        System.out.printf(
                "READ of 8 bytes: p50 %.2f us, p99 %.2f us%n",
                nanos[operations / 2] / 1000.0, nanos[operations * 99 / 100] / 1000.0);
    }

    private void writeBandwidth(int operations) {
        long target = counter.ended + operations;
        long begin = System.nanoTime();
        for (int i = 0; i < operations; i++) {
            while (!channel.tryWrite(large, remote, 0, counter, i).isAccepted()) {
                channel.checkOpen();
                channel.poll();
            }
        }
        awaitDone(target);
        long nanos = System.nanoTime() - begin;
        System.out.printf("WRITE of 1 MiB: %.1f Gbit/s%n", 8.0 * BYTES * operations / nanos);
    }

    private void awaitDone(long target) {
        while (counter.ended < target) {
            channel.poll();
        }
        if (counter.failed > 0) {
            throw new IllegalStateException(counter.failed + " operations failed");
        }
    }

    private static final class Counter implements CompletionHandler {
        private long ended;
        private long failed;

        @Override
        public void onCompletion(RdmaChannel on, long context, WorkStatus status, long result) {
            ended++;
            if (status != WorkStatus.SUCCESS) {
                failed++;
            }
        }
    }
}
