package io.rdmacomm.tests.bench;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.CompletionHandler;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
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

/// The rate of messages of 8 B that one thread sends over the channels of an endpoint in turn, to a handler in the same
/// process. All channels share a completion queue on each side. With POLLING, three threads want a processor.
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 3, jvmArgsAppend = "-XX:+UseSerialGC")
public class ChannelsBenchmark {
    private static final int MESSAGES = 1024;
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    @Param({"1", "64"})
    private int channels;

    @Param({"POLLING", "ADAPTIVE", "COMPLETION_CHANNEL"})
    private WorkMode workMode;

    private ServerSession server;
    private ClientSession client;
    private RdmaChannel[] sending;
    private BufferSlice message;
    private final CompletionHandler ignored = (channel, context, status, result) -> {};
    private int next;
    private volatile long received;
    private long sent;

    @Setup
    public void open() {
        SessionOptions options = SessionOptions.defaults()
                .withWorkMode(workMode)
                .withThreadMode(ThreadMode.SHARED_CQ)
                .withChannels(channels);
        server = ServerSession.listen(options.withMaxChannels(channels).withAddress("127.0.0.1", 0));
        client = ClientSession.connect(options.withAddress("127.0.0.1", server.port()));
        EndPoint there = server.accept(TIMEOUT);
        sending = new RdmaChannel[channels];
        for (int i = 0; i < channels; i++) {
            there.channel(i).onMessage(this::count);
            sending[i] = client.endPoint().channel(i);
        }
        message = client.allocate("message", Long.BYTES).block(0);
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread polls all channels of the server
    private void count(RdmaChannel channel, Message arrived) {
        received++;
    }

    @TearDown
    public void close() {
        client.close();
        server.close();
    }

    @Benchmark
    @OperationsPerInvocation(MESSAGES)
    @SuppressWarnings("ThreadPriorityCheck") // where three threads share two processors, one must make way
    public long send() {
        for (int i = 0; i < MESSAGES; i++) {
            while (!sending[next].trySend(message, ignored, 0).isAccepted()) {
                Thread.yield();
            }
            next = next + 1 == sending.length ? 0 : next + 1;
        }
        sent += MESSAGES;
        while (received < sent) {
            Thread.yield();
        }
        return received;
    }
}
