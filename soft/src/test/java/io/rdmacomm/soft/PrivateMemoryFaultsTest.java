package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Memory of the caller between two contexts, when the peer's engine does not answer or the caller makes a mistake.
class PrivateMemoryFaultsTest {
    private static final int BYTES = 4096;

    private final Arena arena = Arena.ofShared();
    private final Completions done = Completions.create(arena, 16);
    private final Context here = open();
    private final Context there = open();
    private final ProtectionDomain domain = here.allocateProtectionDomain();
    private final ProtectionDomain otherDomain = there.allocateProtectionDomain();
    private final CompletionQueue queue = here.createCompletionQueue(CompletionQueueOptions.ofCapacity(64));
    private final CompletionQueue otherQueue = there.createCompletionQueue(CompletionQueueOptions.ofCapacity(64));

    private static Context open() {
        return Soft.open("soft0=127.0.0.1");
    }

    @AfterEach
    void close() {
        here.close();
        there.close();
        arena.close();
    }

    private record Pair(QueuePair here, QueuePair there) {}

    private Pair connected() {
        QueuePair pair = domain.createQueuePair(QueuePairOptions.reliable(queue));
        QueuePair peer = otherDomain.createQueuePair(QueuePairOptions.reliable(otherQueue));
        pair.connect(peer.info());
        peer.connect(pair.info());
        return new Pair(pair, peer);
    }

    private WorkStatus next(CompletionQueue from) {
        long deadline = System.nanoTime() + 60_000_000_000L;
        while (from.poll(done, 1) == 0) {
            assertThat(System.nanoTime()).isLessThan(deadline);
        }
        return done.status(0);
    }

    private void write(Pair pair, MemoryRegion from, MemoryRegion to) {
        pair.here.post(SendBatch.create(arena, 1, 1)
                .write(1, to.remote())
                .with(from, 0, BYTES)
                .signaled());
    }

    @Test
    void whatWasGivenUpBeforeThePeerBeganIsNeverDoneAndTakesNoRoom() throws IOException {
        MemoryRegion from = domain.allocate(BYTES, AccessFlag.allRemote());
        MemoryRegion to = otherDomain.register(arena.allocate(BYTES, 8), AccessFlag.allRemote());
        from.segment().fill((byte) 1);
        CountDownLatch engine = new CountDownLatch(1);
        Soft.of(there).engine().execute(() -> awaitUninterruptibly(engine));
        long room = 0;
        for (int i = 0; i < 4; i++) {
            Pair pair = connected();
            long asked = Soft.counter(here, "staged_copies");
            write(pair, from, to);
            long deadline = System.nanoTime() + 60_000_000_000L;
            while (Soft.counter(here, "staged_copies") == asked) {
                assertThat(System.nanoTime()).isLessThan(deadline);
                Thread.onSpinWait();
            }
            pair.here.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
            assertThat(next(queue)).isEqualTo(WorkStatus.FLUSHED);
            pair.here.close();
            pair.there.close();
            long offset = Soft.of(here).control().allocate(BYTES);
            Soft.of(here).control().free(offset, BYTES);
            room = i == 0 ? offset : room;
            assertThat(offset).as("the first free place after " + i).isEqualTo(room);
        }

        engine.countDown();
        Pair pair = connected();
        from.segment().fill((byte) 2);
        write(pair, from, to);

        assertThat(next(queue)).isEqualTo(WorkStatus.SUCCESS);
        assertThat(Soft.counter(there, "staged_copies_for_peers")).isEqualTo(1);
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void aReceiveEndsEvenIfTheMemoryOfTheMessageWasFreed() {
        Pair pair = connected();
        MemoryRegion to = otherDomain.allocate(BYTES, AccessFlag.allRemote());
        pair.there.post(ReceiveBatch.create(arena, 1, 1).receive(7).with(to, 0, BYTES));
        Arena mistake = Arena.ofShared();
        MemoryRegion from = domain.register(mistake.allocate(BYTES, 8), AccessFlag.allRemote());
        mistake.close();

        pair.here.post(
                SendBatch.create(arena, 1, 1).send(1).with(from, 0, BYTES).signaled());

        assertThat(next(queue)).isEqualTo(WorkStatus.GENERAL_ERROR);
        assertThat(next(otherQueue)).isEqualTo(WorkStatus.FLUSHED);
        assertThat(done.workId(0)).isEqualTo(7);
    }
}
