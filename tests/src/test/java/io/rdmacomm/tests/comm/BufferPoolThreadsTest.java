package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.comm.ConnectedPair.eventually;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.BufferPool;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.Piece;
import io.rdmacomm.comm.PoolOptions;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.statistics.PoolStatistics;
import io.rdmacomm.testing.Allocation;
import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.PrivateMemory;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaInterruptedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// A pool that several threads use, and threads that wait for it.
@ExtendWith(LeakCheck.class)
final class BufferPoolThreadsTest {
    private static final Duration SHORT = Duration.ofMillis(20);
    private static final int TIMES = 1_000_000;
    private static final long LIMIT = 64 << 10;

    private final ServerSession session = open();
    private final BufferPool pool =
            session.pool("reads", PoolOptions.of(LIMIT).withChunkBytes(16 << 10).withIdle(Duration.ofMillis(10)));

    private static ServerSession open() {
        PrivateMemory.use();
        return ServerSession.listen(SessionOptions.defaults().withAddress("127.0.0.1", 0));
    }

    @AfterEach
    void close() {
        session.close();
    }

    private static <T> FutureTask<T> waiting(Supplier<T> call) {
        FutureTask<T> task = new FutureTask<>(call::get);
        Thread thread = Thread.ofPlatform().daemon().start(task);
        eventually(() -> task.isDone() || thread.getState() == Thread.State.TIMED_WAITING);
        return task;
    }

    private static <T> T result(Future<T> task) throws Exception {
        return task.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    }

    @Test
    void aThreadWaitsForARelease() throws Exception {
        Piece all = pool.take(LIMIT, TIMEOUT);
        FutureTask<Piece> task = waiting(() -> pool.take(100, TIMEOUT));
        all.retain();
        all.release();
        assertThat(task.isDone()).isFalse();

        all.release();

        result(task).release();
        assertThat(pool.statistics().refusals()).isZero();
    }

    @Test
    void threadsAreServedInTheirOrder() throws Exception {
        Piece half = pool.take(LIMIT / 2, TIMEOUT);
        Piece other = pool.take(LIMIT / 2, TIMEOUT);
        FutureTask<Piece> large = waiting(() -> pool.take(LIMIT, TIMEOUT));
        FutureTask<Piece> small = waiting(() -> pool.take(100, TIMEOUT));

        half.release();
        assertThat(small.isDone()).isFalse();
        other.release();

        Piece first = result(large);
        assertThat(small.isDone()).isFalse();
        first.release();
        result(small).release();
    }

    @Test
    void whoGivesUpLeavesItsTurnToTheNext() throws Exception {
        Piece half = pool.take(LIMIT / 2, TIMEOUT);
        Piece other = pool.take(LIMIT / 2, TIMEOUT);
        FutureTask<Piece> large = waiting(() -> pool.take(LIMIT, Duration.ofMillis(300)));
        FutureTask<Piece> small = waiting(() -> pool.take(100, TIMEOUT));
        half.release();

        result(small).release();
        assertThatThrownBy(() -> result(large)).hasCauseInstanceOf(DeadlineException.class);
        other.release();
    }

    @Test
    void aWaitEndsInTimeAndWithAnInterrupt() {
        Piece all = pool.take(LIMIT - 1, TIMEOUT);

        assertThatThrownBy(() -> pool.take(100, SHORT))
                .isInstanceOf(DeadlineException.class)
                .hasMessageContainingAll("no 100 bytes", "pool 'reads'", "20 ms", "65535 bytes in 1 pieces", "limit");
        assertThat(pool.statistics().refusals()).isOne();
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> pool.take(100, TIMEOUT))
                .isInstanceOf(RdmaInterruptedException.class)
                .hasMessageContaining("pool 'reads'");
        assertThat(Thread.interrupted()).isTrue();
        all.release();
    }

    @Test
    void closingThePoolWakesAllThatWait() throws Exception {
        Piece all = pool.take(LIMIT, TIMEOUT);
        List<FutureTask<Piece>> tasks = Stream.generate(() -> waiting(() -> pool.take(100, Duration.ofHours(1))))
                .limit(5)
                .toList();

        pool.close();

        for (FutureTask<Piece> task : tasks) {
            assertThatThrownBy(() -> result(task)).hasCauseInstanceOf(ClosedException.class);
        }
        all.release();
        assertThat(pool.statistics().registeredBytes()).isZero();
    }

    @Test
    void closingTheSessionWakesAllThatWait() throws Exception {
        Piece all = pool.take(LIMIT, TIMEOUT);
        List<FutureTask<Piece>> tasks = Stream.generate(() -> waiting(() -> pool.take(100, Duration.ofHours(1))))
                .limit(5)
                .toList();

        session.close();

        for (FutureTask<Piece> task : tasks) {
            assertThatThrownBy(() -> result(task))
                    .hasCauseInstanceOf(ClosedException.class)
                    .hasMessageContaining("session");
        }
        all.release();
    }

    @Test
    void aHandlerMustNotWait() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            BufferPool mine = pair.server.pool("mine", PoolOptions.of(100));
            AtomicReference<Throwable> failure = new AtomicReference<>();
            AtomicBoolean called = new AtomicBoolean();
            Piece all = mine.take(100, TIMEOUT);
            pair.serverChannel().onMessage((from, message) -> {
                try {
                    mine.take(100, TIMEOUT).release();
                } catch (IllegalStateException e) {
                    failure.set(e);
                }
                called.set(true);
            });
            pair.clientChannel().blocking(TIMEOUT).send(new byte[1]);
            eventually(called::get);

            assertThat(failure.get()).hasMessageContainingAll("pool 'mine'", "in a handler");
            all.release();
        }
    }

    /// As many pieces as there are threads fit in, so none waits for a piece, but each for the others.
    @Test
    void threadsAtOnceAllocateNothing() throws InterruptedException {
        AtomicBoolean done = new AtomicBoolean();
        BufferPool wide = session.pool("wide", PoolOptions.of(16 << 20));
        List<Thread> others = Stream.generate(() -> Thread.ofPlatform().start(() -> {
                    while (!done.get()) {
                        takeAndRelease(wide);
                    }
                }))
                .limit(3)
                .toList();
        try {
            Allocation.assertNone("taking and releasing beside other threads", () -> takeAndRelease(wide));
        } finally {
            done.set(true);
            for (Thread other : others) {
                other.join();
            }
        }
    }

    private static void takeAndRelease(BufferPool from) {
        for (int i = 0; i < TIMES; i++) {
            from.take(1000 + (i & 3) * 1000L, TIMEOUT).release();
        }
    }

    @Test
    void noTwoThreadsHaveAPieceAtTheSameTime() throws Exception {
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            use(threads, 8, Amount.of(20_000, 2_000));
        }
    }

    @Test
    void virtualThreadsWaitForPieces() throws Exception {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            use(threads, 1_000, Amount.of(100, 5));
        }
    }

    /// Pieces of up to the limit, so that threads wait for each other, while idle memory is given back.
    private void use(ExecutorService threads, int count, int rounds) throws Exception {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        List<Future<?>> users = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long mark = i + 1L;
            users.add(threads.submit(() -> use(new Random(seed + mark), mark, rounds)));
        }
        for (Future<?> user : users) {
            user.get();
        }
        PoolStatistics now = pool.statistics();
        assertThat(now.pieces()).as("seed %d", seed).isZero();
        assertThat(now.bytes()).as("seed %d", seed).isZero();
        eventually(() -> pool.statistics().registeredBytes() == 0);
    }

    private void use(Random random, long mark, int rounds) {
        for (int i = 0; i < rounds; i++) {
            long bytes = 8 + random.nextLong(random.nextInt(50) == 0 ? LIMIT - 8 : LIMIT / 8);
            Piece piece = random.nextInt(4) == 0 ? pool.take(bytes) : pool.take(bytes, TIMEOUT);
            if (piece != null) {
                long last = (bytes - 8) / 8;
                piece.segment().setAtIndex(JAVA_LONG, 0, mark);
                piece.segment().setAtIndex(JAVA_LONG, last, mark);
                Thread.onSpinWait();
                assertThat(piece.slice().getAcquire(0)).isEqualTo(mark);
                assertThat(piece.slice().getAcquire(8 * last)).isEqualTo(mark);
                piece.release();
            }
        }
    }

    /// One thread takes and others release, as with handlers of operations.
    @Test
    void piecesAreReleasedByOtherThreads() throws Exception {
        Queue<Piece> between = new ConcurrentLinkedQueue<>();
        AtomicBoolean done = new AtomicBoolean();
        List<CompletableFuture<Void>> releasing = Stream.generate(() -> CompletableFuture.runAsync(() -> {
                    Piece piece = between.poll();
                    while (piece != null || !done.get()) {
                        if (piece != null) {
                            piece.release();
                        }
                        piece = between.poll();
                    }
                }))
                .limit(2)
                .toList();
        for (int i = 0; i < Amount.of(200_000, 20_000); i++) {
            Piece piece = pool.take(1 + i % 9_000L, TIMEOUT);
            piece.retain();
            between.add(piece);
            between.add(piece);
        }
        done.set(true);
        for (CompletableFuture<Void> each : releasing) {
            result(each);
        }
        while (!between.isEmpty()) {
            between.remove().release();
        }
        assertThat(pool.statistics().pieces()).isZero();
    }
}
