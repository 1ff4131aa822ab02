package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.BlockPool;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.testing.Allocation;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaInterruptedException;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// The blocks of a buffer for many threads.
final class BlockPoolTest {
    private static final Duration SHORT = Duration.ofMillis(20);
    private static final int TIMES = 2_000_000;

    private final ServerSession session =
            ServerSession.listen(SessionOptions.defaults().withAddress("127.0.0.1", 0));
    private final RdmaBuffer buffer = session.allocate(64, 4);
    private final BlockPool pool = BlockPool.of(buffer);

    @AfterEach
    void close() {
        session.close();
    }

    @Test
    void eachBlockIsTakenOnceUntilItIsGivenBack() {
        Set<BufferSlice> taken = new HashSet<>();
        for (int i = 0; i < 4; i++) {
            taken.add(pool.take(TIMEOUT));
        }
        assertThat(taken).hasSize(4);
        assertThat(pool.available()).isZero();
        assertThat(pool.tryTake()).isNull();

        BufferSlice third = buffer.block(2);
        pool.give(third);

        assertThat(pool.available()).isOne();
        assertThat(pool.tryTake()).isSameAs(third);
    }

    @Test
    void aThreadWaitsForABlock() {
        List<BufferSlice> all = new ArrayList<>(Collections.nCopies(4, pool).stream()
                .map(each -> each.take(TIMEOUT))
                .toList());
        CompletableFuture<BufferSlice> waiting = CompletableFuture.supplyAsync(() -> pool.take(TIMEOUT));
        assertThat(waiting).isNotDone();

        pool.give(all.getFirst());

        assertThat(waiting.join()).isSameAs(all.getFirst());
    }

    @Test
    void aWaitEndsInTimeAndWithAnInterrupt() {
        for (int i = 0; i < 4; i++) {
            var _ = pool.take(TIMEOUT);
        }

        assertThatThrownBy(() -> pool.take(SHORT))
                .isInstanceOf(DeadlineException.class)
                .hasMessageContaining("all 4 blocks of buffer")
                .hasMessageContaining("20 ms");
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> pool.take(TIMEOUT)).isInstanceOf(RdmaInterruptedException.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void aForeignBlockAndASecondReturnAreRejected() {
        BufferSlice block = pool.take(TIMEOUT);
        RdmaBuffer other = session.allocate(64, 8);

        assertThatThrownBy(() -> pool.give(other.block(0))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> pool.give(other.block(7))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> pool.give(block.slice(0, 10))).isInstanceOf(IllegalArgumentException.class);
        pool.give(block);
        assertThatThrownBy(() -> pool.give(block))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("given back already");
        assertThat(pool.available()).isEqualTo(4);
    }

    @Test
    void aBlockThatIsFreeAllocatesNothing() {
        Allocation.assertNone("taking and giving", this::takeAndGive);
    }

    /// As many threads as there are blocks, so none waits for a block, but each for the others.
    @Test
    void threadsAtOnceAllocateNothing() throws InterruptedException {
        AtomicBoolean done = new AtomicBoolean();
        List<Thread> others = Stream.generate(() -> Thread.ofPlatform().start(() -> {
                    while (!done.get()) {
                        takeAndGive();
                    }
                }))
                .limit(3)
                .toList();
        try {
            Allocation.assertNone("taking and giving beside other threads", this::takeAndGive);
        } finally {
            done.set(true);
            for (Thread other : others) {
                other.join();
            }
        }
    }

    private void takeAndGive() {
        for (int i = 0; i < TIMES; i++) {
            pool.give(pool.take(TIMEOUT));
        }
    }

    @Test
    void noTwoThreadsHaveABlockAtTheSameTime() throws InterruptedException, ExecutionException {
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            List<Future<?>> users = new ArrayList<>();
            for (int i = 1; i <= 8; i++) {
                long mark = i;
                users.add(threads.submit(() -> {
                    for (int k = 0; k < 5_000; k++) {
                        BufferSlice block = pool.take(TIMEOUT);
                        block.segment().set(ValueLayout.JAVA_LONG, 0, mark);
                        Thread.onSpinWait();
                        assertThat(block.getAcquire(0)).isEqualTo(mark);
                        pool.give(block);
                    }
                }));
            }
            for (Future<?> user : users) {
                user.get();
            }
        }
        assertThat(pool.available()).isEqualTo(4);
    }
}
