package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// Requests for memory that only the peer can access, while the peer is just becoming ready.
class StagedStartTest {
    private static final int ROUNDS = 50;
    private static final long TIMEOUT_NANOS = 20_000_000_000L;
    /// The retries last longer than a busy machine needs to connect the peer.
    private static final ConnectionOptions PATIENT =
            ConnectionOptions.defaults().withTimeout(Duration.ofSeconds(2), 7);

    private final Device device = Soft.device("start=127.0.0.1");

    @Test
    void aRequestThatComesWhenThePeerIsJustReadyIsExecuted() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            for (int i = 0; i < ROUNDS; i++) {
                assertThat(writeToAPeerThatConnects(arena)).as("round " + i).isEqualTo(WorkStatus.SUCCESS);
            }
        }
    }

    private WorkStatus writeToAPeerThatConnects(Arena arena) throws Exception {
        // New contexts each time: then the peer takes longest to find this side.
        try (Context here = device.open();
                Context there = device.open()) {
            ProtectionDomain domain = here.allocateProtectionDomain();
            ProtectionDomain theirs = there.allocateProtectionDomain();
            CompletionQueue queue = here.createCompletionQueue(CompletionQueueOptions.ofCapacity(4));
            QueuePair pair = domain.createQueuePair(QueuePairOptions.reliable(queue));
            QueuePair peer = theirs.createQueuePair(
                    QueuePairOptions.reliable(there.createCompletionQueue(CompletionQueueOptions.ofCapacity(4))));
            MemoryRegion from = domain.allocate(8, AccessFlag.allRemote());
            MemoryRegion to = theirs.register(arena.allocate(8, 8), AccessFlag.allRemote());
            pair.connect(peer.info(), PATIENT);
            pair.post(SendBatch.create(arena, 1, 1)
                    .write(1, to.remote())
                    .with(from, 0, 8)
                    .signaled());
            CompletableFuture<Void> connecting = CompletableFuture.runAsync(() -> peer.connect(pair.info(), PATIENT));
            WorkStatus status = awaitStatus(queue, Completions.create(arena, 1));
            connecting.get(20, TimeUnit.SECONDS);
            return status;
        }
    }

    private static WorkStatus awaitStatus(CompletionQueue queue, Completions completions) {
        long deadline = System.nanoTime() + TIMEOUT_NANOS;
        while (queue.poll(completions) == 0) {
            assertThat(System.nanoTime()).isLessThan(deadline);
        }
        return completions.status(0);
    }
}
