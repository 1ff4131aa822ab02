package io.rdmacomm.tests.comm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.Deadlines;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.PeerFailedException;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.SetupFailedException;
import io.rdmacomm.comm.SetupFailedException.Reason;
import io.rdmacomm.tests.comm.GuardedServer.Guard;
import io.rdmacomm.tests.comm.GuardedServer.Memory;
import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.LeakCheck;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.HdrHistogram.ConcurrentHistogram;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Ten honest clients connect again and again while thousands of hostile ones do, of every kind. All honest ones are
/// served; the server's memory and threads stay what they were, and it connects to nobody. How long honest set-ups take
/// is printed, and not asserted: it depends on the machine.
@ExtendWith(LeakCheck.class)
final class StrangersTest {
    private static final int STRANGERS = Amount.of(10_000, 500);
    private static final int HONEST = 10;
    private static final int LEAST_SETUPS = 5;
    private static final Duration TIMEOUT = Duration.ofMinutes(5);
    /// 6.5 KiB for each stranger. The JIT compilers and the collector of an idle server make 38 MiB of difference.
    private static final long MOST_BYTES = 64L << 20;

    @ParameterizedTest
    @EnumSource(Guard.class)
    @Tag("long")
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void theyCostAServerNothingAndLockNobodyOut(Guard guard) throws Exception {
        long seed = System.nanoTime();
        System.out.println("strangers against " + guard + ", seed " + seed);
        try (GuardedServer server = new GuardedServer(guard);
                Clients honest = new Clients(guard, server.port());
                Strangers strangers = new Strangers(server.port(), guard, seed)) {
            // Everything has been loaded and has its usual size.
            for (int i = 0; i < 300; i++) {
                strangers.next();
            }
            honest.connectUntil(() -> true);
            int threads = server.threads();
            Memory before = server.memory();
            ConcurrentHistogram alone = honest.connectUntil(() -> true);

            Watch watch = new Watch(server);
            ConcurrentHistogram during;
            try (watch) {
                CompletableFuture<Void> coming = CompletableFuture.runAsync(() -> {
                    for (int i = 0; i < STRANGERS; i++) {
                        strangers.next();
                    }
                });
                try {
                    during = honest.connectUntil(coming::isDone);
                } finally {
                    coming.join();
                }
            }
            Memory at = server.memory();

            report(guard, alone, during, honest, before, at, threads, watch);
            assertThat(watch.outgoing).as("outgoing connections").isEmpty();
            assertThat(at.heap() - before.heap()).as("heap").isLessThan(MOST_BYTES);
            assertThat(at.buffers() - before.buffers()).as("buffers").isLessThan(MOST_BYTES);
            assertThat(at.resident() - before.resident()).as("resident").isLessThan(MOST_BYTES);
            assertThat(watch.threads).as("threads").isLessThanOrEqualTo(threads);
        }
    }

    private static void report(
            Guard guard,
            ConcurrentHistogram alone,
            ConcurrentHistogram during,
            Clients honest,
            Memory before,
            Memory at,
            int threads,
            Watch watch) {
        System.out.println("guard   | set-ups | p50 ms | p99 ms | max ms | again | heap KiB | resident KiB | threads");
        row(guard + ", alone", alone, 0, before, before, threads);
        row(guard + ", " + STRANGERS + " strangers", during, honest.again.get(), before, at, watch.threads);
    }

    private static void row(String name, ConcurrentHistogram times, int again, Memory before, Memory at, int threads) {
        System.out.printf(
                "%s | %d | %.1f | %.1f | %.1f | %d | %+d | %+d | %d%n",
                name,
                times.getTotalCount(),
                times.getValueAtPercentile(50) / 1e3,
                times.getValueAtPercentile(99) / 1e3,
                times.getMaxValue() / 1e3,
                again,
                (at.heap() - before.heap()) >> 10,
                (at.resident() - before.resident()) >> 10,
                threads);
    }

    /// Reads again and again what must not grow.
    private static final class Watch implements AutoCloseable {
        private static final long PAUSE_NANOS = 1_000_000;

        private final GuardedServer server;
        private final CompletableFuture<Void> over = new CompletableFuture<>();
        private volatile List<String> outgoing = List.of();
        private volatile int threads;
        private volatile boolean closed;

        Watch(GuardedServer server) {
            this.server = server;
            Thread.ofPlatform().name("watch").start(this::run);
        }

        private void run() {
            try {
                do {
                    List<String> now = server.outgoing();
                    outgoing = outgoing.isEmpty() ? now : outgoing;
                    threads = Math.max(threads, server.threads());
                    // Nothing in another process can wake this thread.
                    LockSupport.parkNanos(PAUSE_NANOS);
                } while (!closed);
                over.complete(null);
            } catch (IOException | RuntimeException e) {
                over.completeExceptionally(e);
            }
        }

        @Override
        public void close() {
            closed = true;
            over.orTimeout(60, TimeUnit.SECONDS).join();
        }
    }

    /// Each connects, sends a message and closes in order, again and again.
    private static final class Clients implements AutoCloseable {
        private final Guard guard;
        private final int port;
        private final List<ServerSession> sessions = new ArrayList<>();
        private final List<RdmaBuffer> buffers = new ArrayList<>();
        private final AtomicInteger again = new AtomicInteger();

        Clients(Guard guard, int port) {
            this.guard = guard;
            this.port = port;
            SessionOptions options = guard.options();
            Deadlines deadlines = options.deadlines().withClose(TIMEOUT);
            for (int i = 0; i < HONEST; i++) {
                ServerSession session = ServerSession.listen(options.withDeadlines(deadlines));
                sessions.add(session);
                buffers.add(session.allocate("message", 64));
            }
        }

        /// The set-up times in microseconds.
        ConcurrentHistogram connectUntil(BooleanSupplier over) {
            ConcurrentHistogram times = new ConcurrentHistogram(3);
            List<CompletableFuture<Void>> all = new ArrayList<>();
            for (int i = 0; i < HONEST; i++) {
                int index = i;
                all.add(CompletableFuture.runAsync(
                        () -> {
                            for (int done = 0; done < LEAST_SETUPS || !over.getAsBoolean(); done++) {
                                connect(sessions.get(index), buffers.get(index), times);
                            }
                        },
                        task -> Thread.ofVirtual().start(task)));
            }
            all.forEach(CompletableFuture::join);
            return times;
        }

        private void connect(ServerSession session, RdmaBuffer buffer, ConcurrentHistogram times) {
            long begin = System.nanoTime();
            try (EndPoint endPoint = reach(session)) {
                times.recordValue((System.nanoTime() - begin) / 1000);
                endPoint.channel(0).blocking(TIMEOUT).send(buffer.block(0));
            }
        }

        /// A server may ask a newcomer to come again, if hundreds have come before it has read a byte.
        private EndPoint reach(ServerSession session) {
            while (true) {
                try {
                    return session.connect("127.0.0.1", port, TIMEOUT);
                } catch (SetupFailedException e) {
                    if (e.reason() != Reason.BUSY
                            || !String.valueOf(e.getMessage()).contains("try again")) {
                        throw e;
                    }
                    again.incrementAndGet();
                } catch (PeerFailedException e) {
                    // Before TLS is set up, it cannot say why.
                    if (guard != Guard.TLS) {
                        throw e;
                    }
                    again.incrementAndGet();
                }
            }
        }

        @Override
        public void close() {
            sessions.forEach(ServerSession::close);
        }
    }
}
