package io.rdmacomm.tests.bench;

import io.rdmacomm.comm.BufferPool;
import io.rdmacomm.comm.Piece;
import io.rdmacomm.comm.PoolOptions;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
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

/// A piece of a pool that is taken and released, of always the same size and of changing ones; without an
/// argument of JMH (`-t 2`) by one thread.
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 3, jvmArgsAppend = "-XX:+UseSerialGC")
public class PoolBenchmark {
    private static final int SIZES = 64;
    private static final long LIMIT = 64 << 20;
    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private ServerSession session;
    private BufferPool pool;

    /// The sizes of one thread.
    @State(Scope.Thread)
    public static class Sizes {
        private final long[] bytes = new long[SIZES];
        private int at;

        /// All size classes from 1 KiB to 64 KiB, in no order.
        public Sizes() {
            for (int i = 0; i < SIZES; i++) {
                bytes[i] = 1024 + (i * 37 % SIZES) * 1000L;
            }
        }

        long next() {
            at = (at + 1) % SIZES;
            return bytes[at];
        }
    }

    @Setup
    public void open() {
        session = ServerSession.listen(SessionOptions.defaults().withAddress("127.0.0.1", 0));
        pool = session.pool("pool", PoolOptions.of(LIMIT));
    }

    @TearDown
    public void close() {
        session.close();
    }

    @Benchmark
    public long takeAndRelease() {
        return use(pool.take(4096));
    }

    @Benchmark
    public long takeAndReleaseChangingSizes(Sizes sizes) {
        return use(pool.take(sizes.next()));
    }

    @Benchmark
    public long takeWithTimeoutAndRelease() {
        return use(pool.take(4096, TIMEOUT));
    }

    private static long use(Piece piece) {
        long length = piece.slice().length();
        piece.release();
        return length;
    }
}
