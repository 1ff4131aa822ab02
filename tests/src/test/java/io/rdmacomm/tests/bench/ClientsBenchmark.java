package io.rdmacomm.tests.bench;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/// The time in which one server serves clients that all come at once: each opens a session, sends a message, gets an
/// answer, and closes. The server and the clients are in this process.
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 2)
@Measurement(iterations = 5)
@Fork(3)
public class ClientsBenchmark {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    @Param("200")
    private int clients;

    @Param({"SHARED_CQ", "PER_QUEUE_PAIR"})
    private ThreadMode threadMode;

    private SessionOptions options;
    private ServerSession server;
    private BufferSlice answer;
    private ExecutorService threads;

    @Setup
    public void open() {
        options = SessionOptions.defaults().withWorkMode(WorkMode.EPOLL).withThreadMode(threadMode);
        server = ServerSession.listen(options.withAddress("127.0.0.1", 0));
        answer = server.allocate("answer", Long.BYTES).block(0);
        threads = Executors.newVirtualThreadPerTaskExecutor();
    }

    @TearDown
    public void close() {
        threads.close();
        server.close();
    }

    @Benchmark
    public void serve() throws Exception {
        CountDownLatch together = new CountDownLatch(clients);
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            all.add(threads.submit(() -> ask(together)));
        }
        for (int i = 0; i < clients; i++) {
            EndPoint client = server.accept(TIMEOUT);
            all.add(threads.submit(() -> answer(client)));
        }
        for (Future<?> each : all) {
            each.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        }
    }

    private Void ask(CountDownLatch together) throws InterruptedException {
        together.countDown();
        together.await();
        try (ClientSession client = ClientSession.connect(options.withAddress("127.0.0.1", server.port()))) {
            RdmaBuffer request = client.allocate("request", Long.BYTES);
            client.endPoint().channel(0).blocking(TIMEOUT).send(request.block(0));
            client.endPoint().channel(0).blocking(TIMEOUT).receive().close();
        }
        return null;
    }

    private Void answer(EndPoint client) {
        try (client) {
            client.channel(0).blocking(TIMEOUT).receive().close();
            client.channel(0).blocking(TIMEOUT).send(answer);
        }
        return null;
    }
}
