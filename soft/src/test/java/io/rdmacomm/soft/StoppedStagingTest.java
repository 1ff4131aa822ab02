package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.SendBatch;
import java.lang.foreign.Arena;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// A peer that must copy to memory which only it can access does not answer, because its engine is stopped: that
/// costs only those that write there.
class StoppedStagingTest {
    private static final int BYTES = 600_000;
    private static final int WRITERS = 4;
    private static final ConnectionOptions PATIENT =
            ConnectionOptions.defaults().withTimeout(ChronoUnit.FOREVER.getDuration(), 7);

    private final Arena arena = Arena.ofShared();
    private final Completions done = Completions.create(arena, 16);
    private final Context here = open();
    private final ProtectionDomain domain = here.allocateProtectionDomain();
    private final MemoryRegion from = domain.allocate(BYTES, AccessFlag.allRemote());
    private final Target stopped = new Target();
    private final Target healthy = new Target();
    private final CountDownLatch resume = new CountDownLatch(1);

    private static Context open() {
        return Soft.open("soft0=127.0.0.1");
    }

    /// A context with memory of the caller.
    private final class Target {
        final Context context = open();
        final ProtectionDomain domain = context.allocateProtectionDomain();
        final MemoryRegion region = domain.register(arena.allocate(BYTES, 8), AccessFlag.allRemote());

        Writer writer() {
            CompletionQueue queue = here.createCompletionQueue(CompletionQueueOptions.ofCapacity(16));
            QueuePair pair = StoppedStagingTest.this.domain.createQueuePair(QueuePairOptions.reliable(queue));
            QueuePair peer = domain.createQueuePair(
                    QueuePairOptions.reliable(context.createCompletionQueue(CompletionQueueOptions.ofCapacity(16))));
            pair.connect(peer.info(), PATIENT);
            peer.connect(pair.info(), PATIENT);
            return new Writer(pair, queue, region);
        }
    }

    private record Writer(QueuePair pair, CompletionQueue queue, MemoryRegion to) {}

    @AfterEach
    void close() {
        resume.countDown();
        here.close();
        stopped.context.close();
        healthy.context.close();
        arena.close();
    }

    private void write(Writer writer) {
        writer.pair.post(SendBatch.create(arena, 1, 1)
                .write(1, writer.to.remote())
                .with(from, 0, BYTES)
                .signaled());
    }

    private void awaitSuccess(Writer writer) {
        long deadline = System.nanoTime() + 60_000_000_000L;
        while (writer.queue.poll(done, 1) == 0) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            Thread.onSpinWait();
        }
        assertThat(done.isSuccess(0)).isTrue();
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void itHoldsUpNobodyElse() {
        Soft.of(stopped.context).engine().execute(() -> awaitQuietly(resume));
        Writer[] waiting = new Writer[WRITERS];
        for (int i = 0; i < WRITERS; i++) {
            waiting[i] = stopped.writer();
            write(waiting[i]);
        }
        from.segment().fill((byte) 7);
        Writer free = healthy.writer();

        for (int i = 0; i < 10; i++) {
            write(free);
            awaitSuccess(free);
        }

        assertThat(healthy.region.segment().mismatch(from.segment())).isEqualTo(-1);
        for (Writer each : waiting) {
            assertThat(each.queue.poll(done)).as("requests that have ended").isZero();
        }
        resume.countDown();
        for (Writer each : waiting) {
            awaitSuccess(each);
        }
        assertThat(Soft.counter(stopped.context, "staged_copies_for_peers")).isGreaterThanOrEqualTo(3 * WRITERS);
    }

    @Test
    void itsBlocksAreUsedAgain() throws Exception {
        Soft.of(stopped.context).engine().execute(() -> awaitQuietly(resume));
        long free = 0;
        for (int i = 0; i < 2 * WRITERS; i++) {
            Writer writer = stopped.writer();
            write(writer);
            writer.pair.close();
            long offset = Soft.of(here).control().allocate(BYTES);
            Soft.of(here).control().free(offset, BYTES);
            free = i == 0 ? offset : free;
            assertThat(offset).as("the first free place after " + i).isLessThan(free + BYTES);
        }
    }
}
