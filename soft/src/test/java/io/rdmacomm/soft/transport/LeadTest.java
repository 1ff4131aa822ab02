package io.rdmacomm.soft.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A thread that waits does the work of the engine meanwhile.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LeadTest {
    private static final long LONG = TimeUnit.SECONDS.toNanos(30);
    private static final long SHORT = Engine.EXACT_NANOS;
    private static final int TASKS = 5_000;
    private static final int LEADS = 1_000;

    private final AtomicInteger failures = new AtomicInteger();
    private final AtomicReference<Thread> server = new AtomicReference<>();
    private volatile long untilDue = Long.MAX_VALUE;
    private Engine engine;
    private Pipe pipe;

    @BeforeEach
    void start() throws IOException {
        engine = new Engine("engine", () -> untilDue, failures::incrementAndGet);
        engine.start();
        pipe = Pipe.open();
        pipe.source().configureBlocking(false);
        engine.register(pipe.source(), SelectionKey.OP_READ, key -> {
            pipe.source().read(ByteBuffer.allocate(64));
            server.set(Thread.currentThread());
        });
    }

    @AfterEach
    void close() throws IOException {
        engine.close();
        pipe.sink().close();
        pipe.source().close();
        assertThat(failures).hasValue(0);
    }

    private void send() throws IOException {
        pipe.sink().write(ByteBuffer.allocate(1));
    }

    private Thread served() {
        Thread by = server.getAndSet(null);
        while (by == null) {
            Thread.onSpinWait();
            by = server.getAndSet(null);
        }
        return by;
    }

    private CompletableFuture<Boolean> leading(AtomicBoolean ended) {
        return CompletableFuture.supplyAsync(
                () -> {
                    boolean led = true;
                    while (!ended.get()) {
                        led &= engine.lead(LONG, ended::get);
                    }
                    return led;
                },
                task -> Thread.ofPlatform().name("leader").start(task));
    }

    @Test
    void whatArrivesWakesTheThreadThatLeads() throws Exception {
        AtomicBoolean ended = new AtomicBoolean();
        CompletableFuture<Boolean> leading = leading(ended);
        int byLeader = 0;
        // The own thread may take the seat while the leader is not run, and the leader gets it back.
        while (byLeader < 100) {
            send();
            byLeader += served().getName().equals("leader") ? 1 : 0;
        }
        ended.set(true);
        engine.wakeup();
        assertThat(leading.get()).isTrue();
    }

    @Test
    void theOwnThreadTakesOverFromOneThatLeaves() throws Exception {
        for (int i = 0; i < 20; i++) {
            assertThat(engine.lead(SHORT, () -> false)).isTrue();
            send();
            assertThat(served().getName()).isEqualTo("engine");
        }
    }

    @Test
    void nobodySleepsWhenTheWaitIsOverAlready() {
        long begin = System.nanoTime();
        for (int i = 0; i < 100; i++) {
            assertThat(engine.lead(LONG, () -> true)).isTrue();
        }
        assertThat(System.nanoTime() - begin).isLessThan(LONG);
    }

    @Test
    void oneThreadLeadsAtATime() throws Exception {
        AtomicBoolean ended = new AtomicBoolean();
        CompletableFuture<Boolean> leading = leading(ended);
        send();
        while (!served().getName().equals("leader")) {
            send();
        }
        assertThat(engine.lead(LONG, () -> false)).isFalse();
        ended.set(true);
        engine.wakeup();
        assertThat(leading.get()).isTrue();
    }

    @Test
    void theEndOfTheEngineEndsTheLead() throws Exception {
        CountDownLatch leads = new CountDownLatch(1);
        CompletableFuture<Boolean> leading = CompletableFuture.supplyAsync(
                () -> engine.lead(LONG, () -> {
                    leads.countDown();
                    return false;
                }),
                task -> Thread.ofPlatform().start(task));
        assertThat(leads.await(10, TimeUnit.SECONDS)).isTrue();
        long begin = System.nanoTime();
        engine.close();
        leading.get();
        assertThat(System.nanoTime() - begin).isLessThan(LONG);
        assertThat(engine.lead(LONG, () -> false)).isFalse();
    }

    /// Whoever leads, or has just left, or is about to come, and whether or not something is due.
    @Test
    void noTaskIsForgotten() throws Exception {
        AtomicBoolean ended = new AtomicBoolean();
        CompletableFuture<?>[] leaders = new CompletableFuture<?>[2];
        for (int i = 0; i < leaders.length; i++) {
            leaders[i] = CompletableFuture.runAsync(
                    () -> {
                        while (!ended.get()) {
                            var _ = engine.lead(
                                    SHORT * ThreadLocalRandom.current().nextInt(1, 20), ended::get);
                            spin(ThreadLocalRandom.current().nextInt(1, 300_000));
                        }
                    },
                    task -> Thread.ofPlatform().start(task));
        }
        long slowest = 0;
        for (int i = 0; i < TASKS; i++) {
            untilDue = i % 3 == 0 ? 500_000 : Long.MAX_VALUE;
            CountDownLatch done = new CountDownLatch(1);
            long begin = System.nanoTime();
            engine.execute(done::countDown);
            assertThat(done.await(10, TimeUnit.SECONDS)).as("task %d", i).isTrue();
            slowest = Math.max(slowest, System.nanoTime() - begin);
        }
        ended.set(true);
        engine.wakeup();
        CompletableFuture.allOf(leaders).get();
        System.out.printf("LeadTest: the slowest task took %.1f ms%n", slowest / 1e6);
    }

    /// No later lead makes up for one that is lost.
    @Test
    void aTaskThatComesWhenAThreadLeavesIsDone() throws Exception {
        AtomicInteger rounds = new AtomicInteger();
        CompletableFuture<Void> leader = CompletableFuture.runAsync(
                () -> {
                    for (int i = 1; i <= LEADS; i++) {
                        while (rounds.get() < i) {
                            Thread.onSpinWait();
                        }
                        var _ = engine.lead(SHORT, () -> false);
                    }
                },
                task -> Thread.ofPlatform().start(task));
        long slowest = 0;
        for (int i = 0; i < LEADS; i++) {
            rounds.incrementAndGet();
            spin(ThreadLocalRandom.current().nextLong(2 * SHORT));
            CountDownLatch done = new CountDownLatch(1);
            long begin = System.nanoTime();
            engine.execute(done::countDown);
            assertThat(done.await(10, TimeUnit.SECONDS)).as("task %d", i).isTrue();
            slowest = Math.max(slowest, System.nanoTime() - begin);
        }
        leader.get();
        System.out.printf("LeadTest: the slowest task took %.1f ms%n", slowest / 1e6);
    }

    private static void spin(long nanos) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() - end < 0) {
            Thread.onSpinWait();
        }
    }
}
