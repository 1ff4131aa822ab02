package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.mapped.CompletionFields;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import java.lang.foreign.Arena;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Requests and receives complete in two rings, which a program sees as one queue.
class FairPollTest {
    private static final int MANY = 1_000;
    private static final int PUSHES = 200_000;

    private final Arena arena = Arena.ofShared();
    private Context context;
    private CompletionQueue queue;
    private QueuePair pair;
    private MemoryRegion region;
    private long requests;

    /// Connects a queue pair to itself.
    @BeforeEach
    void connect() {
        context = Soft.open("soft1=127.0.0.1");
        ProtectionDomain domain = context.allocateProtectionDomain();
        queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(64));
        pair = domain.createQueuePair(QueuePairOptions.reliable(queue));
        pair.connect(pair.info());
        region = domain.allocate(4096, AccessFlag.allRemote());
        pair.post(ReceiveBatch.create(arena, 1, 1).receive(2).with(region, 0, 64));
    }

    @AfterEach
    void close() {
        context.close();
        arena.close();
    }

    /// A program that posts as many requests as it polls completions still gets its receives.
    @ParameterizedTest
    @ValueSource(ints = {1, 3, 16})
    void requestsDoNotHoldUpReceives(int atOnce) {
        pair.post(SendBatch.create(arena, 1, 1).send(1).with(region, 64, 8));
        SendBatch write = SendBatch.create(arena, 1, 1)
                .write(1, region.address(), region.remoteKey())
                .with(region, 64, 8)
                .signaled();
        for (int i = 0; i < atOnce; i++) {
            pair.post(write);
        }
        Completions done = Completions.create(arena, atOnce);
        boolean received = false;
        for (int polls = 0; !received && polls < MANY; polls++) {
            int count = queue.poll(done, atOnce);
            for (int i = 0; i < count; i++) {
                received |= done.opcode(i) == CompletionOpcode.RECEIVE;
                pair.post(write);
            }
        }
        assertThat(received).isTrue();
    }

    /// As when a queue pair fails: its requests are flushed first.
    @Test
    void aReceiveIsNotSeenBeforeARequestThatHadEnded() {
        SoftCompletionQueue both = Soft.of(queue);
        Semaphore room = new Semaphore(16);
        // Not in the common pool, which has one thread on two processors: it would stay there if the test fails.
        CompletableFuture<Void> pushing = CompletableFuture.runAsync(
                () -> push(both, room), task -> Thread.ofPlatform().daemon().start(task));
        Completions done = Completions.create(arena, 3);
        long last = -1;
        while (last < 2 * PUSHES - 1) {
            assertThat(pushing).isNotCompletedExceptionally();
            int count = queue.poll(done);
            for (int i = 0; i < count; i++) {
                long workId = done.workId(i);
                // Later requests may overtake receives.
                if (workId % 2 == 1) {
                    assertThat(requests)
                            .as("requests before receive %d", workId)
                            .isGreaterThan(workId / 2);
                    assertThat(workId).isGreaterThan(last);
                    last = workId;
                    room.release();
                } else {
                    assertThat(workId).isEqualTo(2L * requests++);
                }
            }
        }
        pushing.join();
    }

    /// However few completions each poll takes.
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5})
    void allRequestsAreFlushedBeforeTheReceives(int atOnce) {
        SoftCompletionQueue both = Soft.of(queue);
        CompletionFields fields = new CompletionFields();
        for (int i = 0; i < 64; i++) {
            both.sends().push(i, 0, 0, 0, 1, 0);
        }
        for (int i = 64; i < 128; i++) {
            fields.set(i, 0, 0, 0, 1);
            both.receives().push(fields);
        }
        Completions done = Completions.create(arena, atOnce);
        for (int next = 0; next < 128; ) {
            int count = queue.poll(done);
            assertThat(count).isPositive();
            for (int i = 0; i < count; i++) {
                assertThat(done.workId(i)).isEqualTo(next++);
            }
        }
    }

    private static void push(SoftCompletionQueue to, Semaphore room) {
        CompletionFields fields = new CompletionFields();
        for (int i = 0; i < PUSHES; i++) {
            room.acquireUninterruptibly();
            to.sends().push(2L * i, 0, 0, 0, 1, 0);
            fields.set(2L * i + 1, 0, 0, 0, 1);
            to.receives().push(fields);
        }
    }

    @Test
    void completionsOfBothRingsComeWithOnePoll() {
        pair.post(SendBatch.create(arena, 1, 1).send(1).with(region, 64, 8).signaled());
        Completions done = Completions.create(arena, 8);
        assertThat(queue.poll(done)).isEqualTo(2);
        assertThat(done.workId(0)).as("the request").isEqualTo(1);
        assertThat(done.workId(1)).as("the receive").isEqualTo(2);
    }
}
